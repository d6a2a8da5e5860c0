/**
 * The index of `srpt`: workers that can run another ranked job at once, and the others by what could be preempted and by
 * what ends first. Unproven jobs share the cores and so take none from ranked ones.
 */

import { type Entry, Heap } from '../../lib/heap.ts'
import { expectedEnd, holdsCore } from '../jobs/mirror.ts'
import { isOpen, type WorkerRecord } from '../state.ts'
import { preemptionRank } from './preemption.ts'
import { hasFreeCore, sharesCores, speedForOneMore } from './shared-cores.ts'

interface Filed {
  crowd: Entry<WorkerRecord>
  free: Entry<WorkerRecord>
  busy: Entry<WorkerRecord>
  ending: Entry<WorkerRecord>
}

export class SrptIndex {
  /** All open workers, the one with the fewest jobs per core first. Kept only once an unproven job has arrived. */
  readonly crowd = new Heap<WorkerRecord>()
  #keepsCrowd = false
  /** The fastest for one more job first; among equals the least busy. */
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
    if (this.#keepsCrowd) this.#putCrowd(worker, filed)
    if (hasFreeCore(worker)) {
      busy.remove(filed.busy)
      ending.remove(filed.ending)
      free.put(filed.free, -speedForOneMore(worker), worker.running * 2 ** 32 + worker.number)
      return
    }
    free.remove(filed.free)
    let first = Infinity
    let victim = -Infinity
    for (const attempt of worker.jobs) {
      if (!holdsCore(attempt) || sharesCores(attempt)) continue
      const end = expectedEnd(attempt)
      first = Math.min(first, end)
      if (attempt.preemptible) victim = Math.max(victim, preemptionRank(attempt, end))
    }
    ending.put(filed.ending, first, worker.number)
    if (victim > -Infinity) busy.put(filed.busy, -victim, worker.number)
    else busy.remove(filed.busy)
  }

  /** From now on `crowd` is kept. */
  keepCrowd(): void {
    if (this.#keepsCrowd) return
    this.#keepsCrowd = true
    for (const heap of [this.free, this.ending])
      for (const worker of heap) this.#putCrowd(worker, worker.filed as Filed)
  }

  #putCrowd(worker: WorkerRecord, { crowd }: Filed): void {
    this.crowd.put(crowd, worker.jobs.length / worker.cores, worker.placedStamp)
  }

  #add(worker: WorkerRecord): Filed {
    const entry = (): Entry<WorkerRecord> => ({ item: worker, at: -1 })
    const filed = { crowd: entry(), free: entry(), busy: entry(), ending: entry() }
    worker.filed = filed
    this.open++
    return filed
  }

  #close(worker: WorkerRecord): void {
    const filed = worker.filed as Filed | undefined
    if (!filed) return
    this.crowd.remove(filed.crowd)
    this.free.remove(filed.free)
    this.busy.remove(filed.busy)
    this.ending.remove(filed.ending)
    worker.filed = undefined
    this.open--
  }
}
