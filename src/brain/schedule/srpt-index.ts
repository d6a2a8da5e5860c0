/** The index of `srpt`: workers with a free core, and busy workers by what could be preempted and by what ends first. */

import { type Entry, Heap } from '../../lib/heap.ts'
import { expectedEnd, holdsCore } from '../jobs/mirror.ts'
import { isOpen, type WorkerRecord } from '../state.ts'
import { preemptionRank } from './preemption.ts'

interface Filed {
  free: Entry<WorkerRecord>
  busy: Entry<WorkerRecord>
  ending: Entry<WorkerRecord>
}

export class SrptIndex {
  /** The fastest first; among equals the least busy. */
  readonly free = new Heap<WorkerRecord>()
  /** By the end of the job that would be preempted there, the latest first. */
  readonly busy = new Heap<WorkerRecord>()
  /** By the end of the job that ends first there. */
  readonly ending = new Heap<WorkerRecord>()
  open = 0

  refile(worker: WorkerRecord): void {
    const { free, busy, ending } = this
    if (!isOpen(worker)) return this.#close(worker)
    const filed = (worker.filed as Filed | undefined) ?? this.#add(worker)
    if (worker.running < worker.cores) {
      busy.remove(filed.busy)
      ending.remove(filed.ending)
      free.put(filed.free, -worker.workPerSecond, worker.running * 2 ** 32 + worker.number)
      return
    }
    free.remove(filed.free)
    let first = Infinity
    let victim = -Infinity
    for (const attempt of worker.jobs) {
      if (!holdsCore(attempt)) continue
      const end = expectedEnd(attempt)
      first = Math.min(first, end)
      if (attempt.preemptible) victim = Math.max(victim, preemptionRank(attempt, end))
    }
    ending.put(filed.ending, first, worker.number)
    if (victim > -Infinity) busy.put(filed.busy, -victim, worker.number)
    else busy.remove(filed.busy)
  }

  #add(worker: WorkerRecord): Filed {
    const entry = (): Entry<WorkerRecord> => ({ item: worker, at: -1 })
    const filed = { free: entry(), busy: entry(), ending: entry() }
    worker.filed = filed
    this.open++
    return filed
  }

  #close(worker: WorkerRecord): void {
    const filed = worker.filed as Filed | undefined
    if (!filed) return
    this.free.remove(filed.free)
    this.busy.remove(filed.busy)
    this.ending.remove(filed.ending)
    worker.filed = undefined
    this.open--
  }
}
