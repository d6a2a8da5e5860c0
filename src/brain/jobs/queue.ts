/** The queue: jobs that no worker may start yet, in the order of the scheduler's ranks. */

import { Heap } from '../../lib/heap.ts'
import type { JobRecord, WorkerRecord } from '../state.ts'

/** How many jobs that do not fit a part-full worker's memory are skipped before the search ends. */
const passOver = 8

export class Queue {
  readonly #open = new Heap<JobRecord>()
  /** Jobs that some worker has failed or that wait for a retry. They are few, so searches may look at all of them. */
  readonly #excluding = new Heap<JobRecord>()
  /** Jobs that the policy does not rank, in order of arrival. They hold up no others. */
  readonly #aside = new Heap<JobRecord>()

  /** How many queued jobs are in a lane. */
  laned = 0

  get size(): number {
    return this.#open.size + this.#excluding.size + this.#aside.size
  }

  /** `aside`: the policy does not rank the job. */
  add(record: JobRecord, rank: number, aside = false): void {
    if (record.job.lane !== undefined) this.laned++
    record.aside = aside && !record.excluded && !record.held
    record.queued = this.#heapOf(record).push(record, record.aside ? 0 : rank, record.seq)
  }

  /** Idempotent: a job that is not queued is left alone. */
  remove(record: JobRecord): void {
    if (!record.queued) return
    this.#heapOf(record).remove(record.queued)
    record.queued = undefined
    if (record.job.lane !== undefined) this.laned--
  }

  #heapOf(record: JobRecord): Heap<JobRecord> {
    if (record.aside) return this.#aside
    return record.excluded || record.held ? this.#excluding : this.#open
  }

  /** The oldest unranked job that the worker may start. */
  firstAside(accepts: (record: JobRecord) => boolean): JobRecord | undefined {
    return this.#aside.find(accepts, passOver)
  }

  /** The first job that the worker may start. */
  first(
    worker: WorkerRecord,
    accepts: (record: JobRecord) => boolean,
    limit = worker.jobs.length === 0 ? 1 : passOver,
  ): JobRecord | undefined {
    const open = this.#open.find(accepts, limit)
    if (this.#excluding.size === 0) return open
    const excluding = this.#excluding.find(accepts, Infinity)
    if (!open || !excluding) return open ?? excluding
    const openRank = this.#open.keyOf(open.queued!)
    const rank = this.#excluding.keyOf(excluding.queued!)
    return rank < openRank || (rank === openRank && excluding.seq < open.seq) ? excluding : open
  }

  /** The first job for which the condition holds. Looks at no more than `limit` jobs of each kind. */
  find(holds: (record: JobRecord) => boolean, limit: number): JobRecord | undefined {
    const { open, excluding, aside } = { open: this.#open, excluding: this.#excluding, aside: this.#aside }
    return open.find(holds, limit) ?? excluding.find(holds, limit) ?? aside.find(holds, limit)
  }

  /** Jobs that some worker has failed and that do not wait for a retry, in order of arrival. */
  excluding(): JobRecord[] {
    return [...this.#excluding].filter(({ held }) => !held).sort((a, b) => a.seq - b.seq)
  }

  *[Symbol.iterator](): Iterator<JobRecord> {
    yield* this.#open
    yield* this.#excluding
    yield* this.#aside
  }
}
