/**
 * Requests that fit nowhere, under `class-limits`: some have started a worker and wait for it, the others wait for a
 * grace period and are then placed again.
 */

import type { JobClass } from './classes.ts'

/** A request that has started a worker. */
export interface Start {
  job: string
  kind: JobClass
  launch: string
  /** When it is sent to its worker. */
  until: number
  /** Its worker was not ready then: it is sent as soon as the worker joins. */
  late: boolean
}

interface Queued {
  until: number
  /** Only requests of the current round are counted. */
  round: number
}

export class Grace {
  readonly #starts = new Map<string, Start>()
  readonly #queue = new Map<string, Queued>()
  #round = 0
  #counted = 0

  startOf(job: string): Start | undefined {
    return this.#starts.get(job)
  }

  starts(): IterableIterator<Start> {
    return this.#starts.values()
  }

  /** When a queued request is to be placed again. */
  untilOf(job: string): number | undefined {
    return this.#queue.get(job)?.until
  }

  /** The number of requests queued since the last reset, without this one. */
  countWithout(job: string): number {
    return this.#counted - (this.#queue.get(job)?.round === this.#round ? 1 : 0)
  }

  addStart(start: Start): void {
    this.leave(start.job)
    this.#starts.set(start.job, start)
  }

  /** A request whose time is unchanged keeps its place. */
  addQueued(job: string, until: number): void {
    if (this.untilOf(job) === until) return
    this.leave(job)
    this.#queue.set(job, { until, round: this.#round })
    this.#counted++
  }

  /** Requests queued so far are no longer counted. */
  resetCount(): void {
    this.#round++
    this.#counted = 0
  }

  /** Idempotent. Returns the start that this ends, if any. */
  leave(job: string): Start | undefined {
    if (this.#queue.get(job)?.round === this.#round) this.#counted--
    this.#queue.delete(job)
    const start = this.#starts.get(job)
    this.#starts.delete(job)
    return start
  }
}
