/** Workers with a free slot, the smallest rank first; among equals, the one whose last job came longest ago. */

import { type Entry, Heap } from '../../lib/heap.ts'
import type { Accepts } from '../jobs/eligible.ts'
import { isOpen, type JobRecord, type WorkerRecord } from '../state.ts'
import { EmptyWorkers } from './empty.ts'
import { passOver } from './scheduler.ts'

export class OpenWorkers {
  readonly #rank: (worker: WorkerRecord) => number
  readonly #heap = new Heap<WorkerRecord>()
  readonly #empty = new EmptyWorkers()

  constructor(rank: (worker: WorkerRecord) => number) {
    this.#rank = rank
  }

  get size(): number {
    return this.#heap.size
  }

  /** Must be called whenever a worker changed. */
  refile(worker: WorkerRecord): void {
    this.#empty.refile(worker)
    const entry = worker.filed as Entry<WorkerRecord> | undefined
    if (isOpen(worker)) {
      if (entry) this.#heap.put(entry, this.#rank(worker), worker.placedStamp)
      else worker.filed = this.#heap.push(worker, this.#rank(worker), worker.placedStamp)
    } else if (entry) {
      this.#heap.remove(entry)
      worker.filed = undefined
    }
  }

  /** The first worker that may take the job. */
  firstFor(record: JobRecord, accepts: Accepts): WorkerRecord | undefined {
    const worker = this.first((candidate) => accepts(candidate, record))
    if (worker || this.size <= passOver) return worker
    return this.#empty.first(record, accepts)
  }

  /** The first worker for which the predicate holds, among the first `passOver`. */
  first(isSo: (worker: WorkerRecord) => boolean): WorkerRecord | undefined {
    return this.#heap.find(isSo, passOver)
  }
}
