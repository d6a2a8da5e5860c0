/** When a node asks to leave. Pure, so that real and simulated nodes decide alike. */

import type { EndingRule } from './tiers.ts'

/** Why the node asks, and the time that decided. */
export interface Ask {
  why: 'idle' | 'slow'
  ms: number
}

/** A node asks once it was idle for longer than the limit, not exactly at it. */
const grainMs = 0.001

export class SelfEnding {
  readonly #rule: EndingRule
  /** The start of the idle time, or the last time it asked, if that is later. */
  #idleSince: number
  #lastAt: number | undefined
  /** Late requests in a row. */
  #late = 0
  #inHand = 0

  constructor(rule: EndingRule, now: number) {
    this.#rule = rule
    this.#idleSince = now
  }

  /** A request has arrived. */
  arrived(now: number): Ask | undefined {
    const gapMs = this.#lastAt === undefined ? 0 : now - this.#lastAt
    this.#lastAt = now
    this.#idleSince = now
    this.#late = gapMs > this.#rule.gapMs ? this.#late + 1 : 0
    if (this.#late < this.#rule.gaps) return undefined
    this.#late = 0
    return { why: 'slow', ms: gapMs }
  }

  /** The requests that the node is working on: while there are any, it is not idle. */
  holds(inHand: number, now: number): void {
    if (this.#inHand > 0 && inHand === 0) this.#idleSince = now
    this.#inHand = inHand
  }

  /** When `check` is to be called if nothing arrives; Infinity while the node works. */
  get dueAt(): number {
    return this.#inHand > 0 ? Infinity : this.#idleSince + this.#rule.idleMs + grainMs
  }

  /** A node that is denied asks again after the same time. */
  check(now: number): Ask | undefined {
    if (now < this.dueAt) return undefined
    const ms = now - this.#idleSince
    this.#idleSince = now
    return { why: 'idle', ms }
  }
}
