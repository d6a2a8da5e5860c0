/**
 * An index of empty workers. A policy tries a bounded number of workers; an empty one, which can take any job, may be
 * behind them all, and is found here.
 */

import { type Entry, Heap } from '../../lib/heap.ts'
import type { Accepts } from '../jobs/eligible.ts'
import { isOpen, type JobRecord, type WorkerRecord } from '../state.ts'

export class EmptyWorkers {
  /** By number. A worker that gets a job stays here until a search meets it: most searches end before. */
  readonly #heap = new Heap<WorkerRecord>()
  readonly #entries = new Map<WorkerRecord, Entry<WorkerRecord>>()

  /** Must be called whenever a worker changed. */
  refile(worker: WorkerRecord): void {
    if (worker.jobs.length > 0) return
    const entry = this.#entries.get(worker)
    if (worker.state === 'terminated') {
      if (entry) this.#heap.remove(entry)
      this.#entries.delete(worker)
    } else if (!entry) this.#entries.set(worker, this.#heap.push(worker, worker.number, 0))
    else if (entry.at < 0) this.#heap.put(entry, worker.number, 0)
  }

  /** The oldest empty worker that may take the job. */
  first(record: JobRecord, accepts: Accepts): WorkerRecord | undefined {
    const passed: WorkerRecord[] = []
    let found: WorkerRecord | undefined
    for (let worker = this.#heap.top(); worker && !found; worker = this.#heap.top()) {
      if (accepts(worker, record) && worker.jobs.length === 0) found = worker
      else {
        this.#heap.pop()
        if (isOpen(worker) && worker.jobs.length === 0) passed.push(worker)
      }
    }
    for (const worker of passed) this.refile(worker)
    return found
  }
}
