/** The role of a real node: it asks to leave by the clock, and as a front it accepts requests. */

import { type Ask, SelfEnding } from './self-ending.ts'
import type { EndingRule, Role } from './tiers.ts'

/** Accepts requests until the signal, and resolves when all have been answered. */
export type FrontStarter = (
  id: string,
  signal: AbortSignal,
  events: { listening(): void; arrived(): void },
) => Promise<void>

export interface LiveTierParts {
  id: string
  /** Undefined: this node cannot be a front. */
  front: FrontStarter | undefined
  /** Asks the brain whether it may leave. */
  ask(ask: Ask): void
  /** The front could not start, or failed. */
  failed(error: Error): void
}

/** Implements `ActiveRole` of the worker. */
export class LiveTier {
  readonly role: Role
  readonly #rule: EndingRule
  readonly #parts: LiveTierParts
  readonly #leave = new AbortController()
  readonly #front: Promise<void>
  /** Undefined: a front that does not listen yet. */
  #ending: SelfEnding | undefined
  #timer: NodeJS.Timeout | undefined
  #inHand = 0

  /** `settings` are those of TierRoles. */
  constructor({ role, settings }: { role: string; settings: unknown }, parts: LiveTierParts) {
    this.role = role as Role
    this.#parts = parts
    this.#rule = settings as EndingRule
    if (role === 'middle') this.#watch()
    this.#front = role === 'front' ? this.#accept() : Promise.resolve()
  }

  /** A middle has been given a request; the returned function ends it. */
  begin(): () => void {
    if (this.role !== 'middle') return () => {}
    this.#holds(1)
    this.#arrived()
    return () => this.#holds(-1)
  }

  /** A front accepts no more requests. */
  leave(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#leave.abort()
  }

  /** Leaves, and resolves when all requests have been answered. */
  async close(): Promise<void> {
    this.leave()
    await this.#front
  }

  async #accept(): Promise<void> {
    const { id, front, failed } = this.#parts
    try {
      if (!front) throw new Error('this node cannot be a front')
      await front(id, this.#leave.signal, {
        listening: () => this.#watch(),
        arrived: () => this.#arrived(),
      })
    } catch (error) {
      failed(error as Error)
    }
  }

  /** Idle time counts from here on. */
  #watch(): void {
    this.#ending = new SelfEnding(this.#rule, performance.now())
    this.#plan()
  }

  #arrived(): void {
    const ask = this.#ending?.arrived(performance.now())
    this.#plan()
    if (ask) this.#parts.ask(ask)
  }

  #holds(change: 1 | -1): void {
    this.#inHand += change
    this.#ending?.holds(this.#inHand, performance.now())
    this.#plan()
  }

  /** A running timer checks again when it fires, so that most arrivals set none. */
  #plan(): void {
    const dueAt = this.#ending?.dueAt ?? Infinity
    if (this.#timer || dueAt === Infinity || this.#leave.signal.aborted) return
    this.#timer = setTimeout(() => this.#check(), Math.max(1, Math.ceil(dueAt - performance.now())))
    this.#timer.unref()
  }

  #check(): void {
    this.#timer = undefined
    const ask = this.#ending?.check(performance.now())
    this.#plan()
    if (ask) this.#parts.ask(ask)
  }
}
