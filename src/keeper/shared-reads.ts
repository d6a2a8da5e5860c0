/** Reads of jobs that followers share, however many they are. */

import type { JobStore, StoredJob } from '../store/store.ts'

export class SharedReads {
  readonly #store: Pick<JobStore, 'job'>
  readonly #freshMs: number
  readonly #now: () => number
  readonly #reads = new Map<string, { at: number; job: Promise<StoredJob | undefined> }>()

  constructor(store: Pick<JobStore, 'job'>, freshMs: number, now = () => performance.now()) {
    this.#store = store
    this.#freshMs = freshMs
    this.#now = now
  }

  /** `isOpen`: the job is known to be open, so a recent reading is as good as a new one. */
  job(id: string, isOpen: boolean): Promise<StoredJob | undefined> {
    const known = this.#reads.get(id)
    if (known && isOpen && this.#now() - known.at < this.#freshMs) return known.job
    const read = { at: this.#now(), job: this.#store.job(id) }
    this.#reads.set(id, read)
    const forget = () => {
      if (this.#reads.get(id) === read) this.#reads.delete(id)
    }
    setTimeout(forget, this.#freshMs).unref()
    // The store may work again at the next look.
    read.job.catch(forget)
    return read.job
  }
}
