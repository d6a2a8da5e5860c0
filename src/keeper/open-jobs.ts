/** The jobs without an answer, in memory: which of them wait here, and in which order. */

import type { StoredJob } from '../store/store.ts'
import type { QuotedTimes } from './eta.ts'

export interface OpenJob {
  readonly id: string
  readonly isRepeatable: boolean
  /** How long it is expected to need a core, in seconds. */
  readonly expectedS: number
  readonly ended: PromiseWithResolvers<void>
  /** How often it was sent to a front. */
  tries: number
  /** Set while it is sent. */
  abort?: AbortController
  /** The id by which the cluster knows it now. */
  job?: string
  /** Why the cluster refused it the last time. */
  waitsFor?: string
}

export class OpenJobs {
  readonly #all = new Map<string, OpenJob>()
  /** In the order of their arrival; some may have ended. */
  #waiting: OpenJob[] = []
  #first = 0
  #waitingS = 0

  /** How long the jobs that wait here are expected to need a core, in seconds. */
  get waitingS(): number {
    return Math.max(0, this.#waitingS)
  }

  add({ id, isRepeatable, quote }: Pick<StoredJob, 'id' | 'isRepeatable' | 'quote'>): OpenJob {
    const { seconds } = (quote ?? {}) as Partial<QuotedTimes>
    const expectedS = seconds?.expected ?? 0
    const job: OpenJob = { id, isRepeatable, expectedS, ended: Promise.withResolvers(), tries: 0 }
    this.#all.set(id, job)
    return job
  }

  get(id: string): OpenJob | undefined {
    return this.#all.get(id)
  }

  all(): Iterable<OpenJob> {
    return this.#all.values()
  }

  wait(job: OpenJob): void {
    this.#waiting.push(job)
    this.#waitingS += job.expectedS
  }

  next(): OpenJob | undefined {
    for (;;) {
      const job = this.#waiting[this.#first++]
      if (!job) {
        this.#waiting = []
        this.#first = 0
        // Sums of fractions are not exact.
        this.#waitingS = 0
        return undefined
      }
      this.#waitingS -= job.expectedS
      if (this.#first > 1_000 && this.#first * 2 > this.#waiting.length) {
        this.#waiting = this.#waiting.slice(this.#first)
        this.#first = 0
      }
      if (this.#all.get(job.id) === job) return job
    }
  }

  end(job: OpenJob): void {
    this.#all.delete(job.id)
    job.ended.resolve()
  }
}
