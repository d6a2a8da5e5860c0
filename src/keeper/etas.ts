/** When jobs will have ended: quotes as the brain gives them, corrected by what jobs have taken since. */

import type { JobStore, StoredJob } from '../store/store.ts'
import { DoneTimes, type Expected } from './done-times.ts'

/** Jobs of earlier keepers that are learned from. */
const mostReplayed = 600

export class Etas {
  readonly #times = new DoneTimes()

  /** The quote with `doneSeconds`, the time from the acceptance to the end; unchanged if the quote has no times. */
  addTo(quote: unknown): unknown {
    const expected = expectedOf(quote)
    return expected ? { ...(quote as object), doneSeconds: this.#times.of(expected) } : quote
  }

  /** A job has its answer. */
  learn({ acceptedAt, quote }: Pick<StoredJob, 'acceptedAt' | 'quote'>, endedAt: number): void {
    const expected = expectedOf(quote)
    // If the clock was set back, nothing can be told.
    if (expected && endedAt >= acceptedAt) this.#times.learn(expected, (endedAt - acceptedAt) / 1000)
  }

  async replay(store: Pick<JobStore, 'list'>): Promise<void> {
    const { jobs } = await store.list({ state: 'answered', limit: mostReplayed })
    for (const job of jobs.toReversed()) if (job.endedAt !== undefined) this.learn(job, job.endedAt)
  }
}

/** What the quote of a job says, if it has times; it has none if no worker was ready. */
export function expectedOf(quote: unknown): Expected | undefined {
  const { seconds, waitSeconds } = (quote ?? {}) as Partial<Expected>
  return seconds && typeof waitSeconds === 'number' ? { seconds, waitSeconds } : undefined
}
