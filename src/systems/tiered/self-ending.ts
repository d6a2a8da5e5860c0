/** When a node asks to be ended, by what it has had to do: pure, so that real nodes and simulated ones decide alike. */

import type { EndingRule } from '../../model/worker.ts'

/** Why it asks, and the time that decided. */
export interface Ask {
  why: 'idle' | 'slow'
  ms: number
}

export class SelfEnding {
  readonly #rule: EndingRule
  /** Since when it has had nothing to do; since it last asked, if that is later. */
  #idleSince: number
  #lastAt: number | undefined
  /** Requests in a row that came late after the one before. */
  #late = 0
  #inHand = 0

  constructor(rule: EndingRule, now: number) {
    this.#rule = rule
    this.#idleSince = now
  }

  /** A request has come. */
  arrived(now: number): Ask | undefined {
    const gapMs = this.#lastAt === undefined ? 0 : now - this.#lastAt
    this.#lastAt = now
    this.#idleSince = now
    this.#late = gapMs > this.#rule.gapMs ? this.#late + 1 : 0
    if (this.#late < this.#rule.gaps) return undefined
    this.#late = 0
    return { why: 'slow', ms: gapMs }
  }

  /** Of a node that does the work itself: so many requests are in its hands. One that works is not idle. */
  holds(inHand: number, now: number): void {
    if (this.#inHand > 0 && inHand === 0) this.#idleSince = now
    this.#inHand = inHand
  }

  /** When it will have been idle for too long, if nothing comes; it is to be asked then. Infinity: while it works. */
  get dueAt(): number {
    return this.#inHand > 0 ? Infinity : this.#idleSince + this.#rule.idleMs + grainMs
  }

  /** If it is refused it asks again after as long. */
  check(now: number): Ask | undefined {
    if (now < this.dueAt) return undefined
    const ms = now - this.#idleSince
    this.#idleSince = now
    return { why: 'idle', ms }
  }
}

/** For longer than the limit: not at the very moment that it is reached. */
const grainMs = 0.001
