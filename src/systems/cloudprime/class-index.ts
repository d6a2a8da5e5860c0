/** The index of `class-limits`: for each class the workers that may take one more request of it. */

import { isOpen, type WorkerRecord } from '../../brain/state.ts'
import { type Entry, Heap } from '../../lib/heap.ts'
import { type ClassCounts, type ClassLimits, hasPlaceFor, type JobClass } from './classes.ts'

const kinds = ['short', 'intermediate', 'max'] as const

/** A worker's entry in the heap of each class. */
type Filed = Partial<Record<JobClass, Entry<WorkerRecord>>>

export class ClassIndex {
  readonly #limits: ClassLimits
  readonly #countsOf: (worker: WorkerRecord) => ClassCounts
  /** The worker with the fewest requests first. */
  readonly #open: Readonly<Record<JobClass, Heap<WorkerRecord>>> = {
    short: new Heap(),
    intermediate: new Heap(),
    max: new Heap(),
  }

  constructor(limits: ClassLimits, countsOf: (worker: WorkerRecord) => ClassCounts) {
    this.#limits = limits
    this.#countsOf = countsOf
  }

  refile(worker: WorkerRecord): void {
    worker.filed ??= {}
    const filed = worker.filed as Filed
    const counts = isOpen(worker) ? this.#countsOf(worker) : undefined
    for (const kind of kinds) {
      const entry = filed[kind]
      const heap = this.#open[kind]
      if (counts && hasPlaceFor(kind, worker.cpu, counts, this.#limits)) {
        if (entry) heap.put(entry, worker.jobs.length, worker.placedStamp)
        else filed[kind] = heap.push(worker, worker.jobs.length, worker.placedStamp)
      } else if (entry) {
        heap.remove(entry)
        delete filed[kind]
      }
    }
  }

  size(kind: JobClass): number {
    return this.#open[kind].size
  }

  /** The first worker for which the predicate holds, among the first `limit`. */
  find(kind: JobClass, isSo: (worker: WorkerRecord) => boolean, limit: number): WorkerRecord | undefined {
    return this.#open[kind].find(isSo, limit)
  }
}
