/** The queue: jobs that no worker may start yet, in the order that the scheduler ranks them. */

import { Heap } from '../../lib/heap.ts'
import type { JobRecord, WorkerRecord } from '../state.ts'

/** How many jobs that do not fit a part-full worker's memory are passed over before giving up. */
const passOver = 8

export class Waiting {
  readonly #open = new Heap<JobRecord>()
  /** Jobs that some worker has failed. Few, so they may be looked at one by one. */
  readonly #wary = new Heap<JobRecord>()

  /** How many of them belong in one of several queues. */
  laned = 0

  get size(): number {
    return this.#open.size + this.#wary.size
  }

  add(record: JobRecord, rank: number): void {
    if (record.job.lane !== undefined) this.laned++
    record.queued = (record.excluded ? this.#wary : this.#open).push(record, rank, record.seq)
  }

  /** Idempotent: a job that does not wait is left alone. */
  remove(record: JobRecord): void {
    if (!record.queued) return
    const heap = record.excluded ? this.#wary : this.#open
    heap.remove(record.queued)
    record.queued = undefined
    if (record.job.lane !== undefined) this.laned--
  }

  /** The first job in order that the worker may start. */
  first(
    worker: WorkerRecord,
    accepts: (record: JobRecord) => boolean,
    limit = worker.jobs.length === 0 ? 1 : passOver,
  ): JobRecord | undefined {
    const open = this.#open.find(accepts, limit)
    if (this.#wary.size === 0) return open
    const wary = this.#wary.find(accepts, Infinity)
    if (!open || !wary) return open ?? wary
    const openRank = this.#open.keyOf(open.queued!)
    const waryRank = this.#wary.keyOf(wary.queued!)
    return waryRank < openRank || (waryRank === openRank && wary.seq < open.seq) ? wary : open
  }

  /** The first in order of which that is so, among no more than `limit` that no worker has failed, and those that one has. */
  find(isSo: (record: JobRecord) => boolean, limit: number): JobRecord | undefined {
    return this.#open.find(isSo, limit) ?? this.#wary.find(isSo, limit)
  }

  /** Jobs that some worker has failed, in order. */
  wary(): JobRecord[] {
    return [...this.#wary].sort((a, b) => a.seq - b.seq)
  }

  *[Symbol.iterator](): Iterator<JobRecord> {
    yield* this.#open
    yield* this.#wary
  }
}
