/**
 * The process of a simulated brain. It can freeze: what arrives meanwhile waits unread, and ticks are late. As the driver
 * of a live brain does, it tells the brain of its pause first, then hands it what waits, and then ticks.
 */

import type { Event } from '../model/event.ts'
import type { VirtualClock } from './clock.ts'

/** Shorter pauses are not noticed. */
const noticedMs = 20

export class SimBrainProcess {
  readonly #clock: VirtualClock
  readonly #handle: (event: Event) => void
  #inbox: Event[] = []
  #frozenAt: number | undefined
  #tickIsDue = false
  isDead = false

  constructor(clock: VirtualClock, handle: (event: Event) => void) {
    this.#clock = clock
    this.#handle = handle
  }

  get frozen(): boolean {
    return this.#frozenAt !== undefined
  }

  tell(event: Event): void {
    if (this.isDead) return
    if (!this.frozen) this.#handle(event)
    else if (event.type === 'tick') this.#tickIsDue = true
    else this.#inbox.push(event)
  }

  /** What it has not read is lost. */
  die(): void {
    this.isDead = true
    this.#frozenAt = undefined
    this.#inbox = []
    this.#tickIsDue = false
  }

  /** Idempotent. */
  freeze(): void {
    if (!this.isDead) this.#frozenAt ??= this.#clock.now
  }

  /** Idempotent. */
  thaw(): void {
    if (this.#frozenAt === undefined) return
    const ms = this.#clock.now - this.#frozenAt
    this.#frozenAt = undefined
    const waiting = this.#inbox
    this.#inbox = []
    if (ms >= noticedMs) this.#handle({ type: 'paused', ms })
    for (const event of waiting) this.#handle(event)
    if (this.#tickIsDue) this.#handle({ type: 'tick' })
    this.#tickIsDue = false
  }
}
