/** The jobs of a cluster that have not ended, whichever front their clients are connected to. */

import type { OpenJob } from '../front/open-job.ts'
import type { AttemptToken } from '../model/attempt.ts'

const pollMs = 20

export class OpenJobs {
  readonly #open = new Map<string, OpenJob>()

  get size(): number {
    return this.#open.size
  }

  get(job: string): OpenJob | undefined {
    return this.#open.get(job)
  }

  /** The job whose current attempt this is; undefined if the attempt is superseded. */
  current(worker: string, { job, attempt }: AttemptToken): OpenJob | undefined {
    const open = this.#open.get(job)
    // The number alone tells attempts apart: it grows when a job passes from one brain to the next.
    return open?.worker === worker && open.attempts === attempt ? open : undefined
  }

  add(job: OpenJob): void {
    this.#open.set(job.parts.job.id, job)
  }

  delete(job: OpenJob): void {
    this.#open.delete(job.parts.job.id)
  }

  all(): OpenJob[] {
    return [...this.#open.values()]
  }

  /** Resolves when all jobs have ended, or after the limit. */
  async ended(limitMs: number): Promise<void> {
    const until = performance.now() + limitMs
    while (this.#open.size > 0 && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, pollMs))
    }
  }
}
