/**
 * Requests that fit nowhere, of `class-limits`: some have started a worker and wait for that one, the others wait for
 * a grace period and are then placed anew.
 */

import type { JobClass } from './classes.ts'

/** A request, by its job, that has started a worker. */
export interface Start {
  job: string
  kind: JobClass
  launch: string
  /** Then it is sent to its worker. */
  until: number
  /** Its worker was not there then: it is sent as soon as it is. */
  late: boolean
}

interface Queued {
  until: number
  /** Those of earlier rounds are not counted any more. */
  round: number
}

export interface SavedGrace {
  starts: Start[]
  queue: [job: string, queued: Queued][]
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

  /** When a queued request is to be placed anew. */
  untilOf(job: string): number | undefined {
    return this.#queue.get(job)?.until
  }

  /** How many queue since the count was last set to 0, but for this one. */
  countWithout(job: string): number {
    return this.#counted - (this.#queue.get(job)?.round === this.#round ? 1 : 0)
  }

  addStart(start: Start): void {
    this.leave(start.job)
    this.#starts.set(start.job, start)
  }

  /** One that waits already, and is not yet to be placed anew, keeps its place. */
  addQueued(job: string, until: number): void {
    if (this.untilOf(job) === until) return
    this.leave(job)
    this.#queue.set(job, { until, round: this.#round })
    this.#counted++
  }

  /** Those that queue now are not counted any more. */
  resetCount(): void {
    this.#round++
    this.#counted = 0
  }

  /** Idempotent. Gives the start that thereby ends. */
  leave(job: string): Start | undefined {
    if (this.#queue.get(job)?.round === this.#round) this.#counted--
    this.#queue.delete(job)
    const start = this.#starts.get(job)
    this.#starts.delete(job)
    return start
  }

  save(): SavedGrace {
    return { starts: [...this.#starts.values()], queue: [...this.#queue], round: this.#round }
  }

  load({ starts, queue, round }: SavedGrace): void {
    this.#round = round
    for (const start of starts) this.#starts.set(start.job, { ...start })
    for (const [job, queued] of queue) {
      this.#queue.set(job, { ...queued })
      if (queued.round === round) this.#counted++
    }
  }
}
