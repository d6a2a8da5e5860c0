/** What the fronts of a simulation know of their requests, which they tell a new brain. */

import type { AttemptToken } from '../model/attempt.ts'
import type { Event } from '../model/event.ts'
import type { Truth } from './environment.ts'
import { keyOf } from './sim-attempt.ts'

type End = Extract<Event, { type: 'finished' | 'failed' }>

interface Sent extends AttemptToken {
  worker: string
  /** It must not be repeated, and may have started. */
  committed: boolean
  end: End | undefined
}

export class SimRequests {
  /** The latest attempt at each job. */
  readonly #sent = new Map<string, Sent>()
  /** False: fronts have lost the brain, and tell nobody anything. */
  isUp = true

  /** A front sends this attempt. */
  sent({ epoch, job, attempt, worker }: AttemptToken & { worker: string }): void {
    const known = this.#sent.get(job)
    // Messages may be late.
    if (known && (known.epoch > epoch || (known.epoch === epoch && known.attempt >= attempt))) return
    this.#sent.set(job, { epoch, job, attempt, worker, committed: false, end: undefined })
  }

  /** A front is told that the attempt may start. */
  going(token: AttemptToken): void {
    const known = this.#sent.get(token.job)
    if (known && keyOf(known) === keyOf(token)) known.committed = true
  }

  /** An attempt has ended at its front. */
  ended(end: End): void {
    const known = this.#sent.get(end.job)
    if (known && keyOf(known) === keyOf(end) && known.worker === end.worker) known.end ??= end
  }

  /** What a new brain is told of a request; undefined: its front has a result for it. */
  told({ job }: Truth): Event[] | undefined {
    const sent = this.#sent.get(job.id)
    if (!sent) return [{ type: 'arrived', job }]
    const { worker, epoch, attempt, committed, end } = sent
    if (end?.type === 'finished') return undefined
    const on = { worker, epoch, attempt, ...(committed && { committed: true as const }) }
    return [{ type: 'arrived', job, on }, ...(end ? [end] : [])]
  }
}
