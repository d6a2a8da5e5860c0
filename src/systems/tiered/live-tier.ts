/** The tier of a real node: it asks to be ended by the clock, and where it is a front it takes requests in. */

import type { EndingRule, Role } from '../../model/worker.ts'
import { type Ask, SelfEnding } from './self-ending.ts'

/** Takes requests in until the signal, and resolves when all have been answered. */
export type FrontStarter = (
  id: string,
  signal: AbortSignal,
  events: { listening(): void; arrived(): void },
) => Promise<void>

export interface LiveTierParts {
  id: string
  /** Undefined: this node cannot be a front. */
  front: FrontStarter | undefined
  /** It would be ended. */
  ask(ask: Ask): void
  /** It was to be a front, and cannot be any more. */
  failed(error: Error): void
}

export class LiveTier {
  readonly role: Role
  readonly #rule: EndingRule
  readonly #parts: LiveTierParts
  readonly #leave = new AbortController()
  readonly #front: Promise<void>
  /** Undefined: a front that does not take requests yet. */
  #ending: SelfEnding | undefined
  #timer: NodeJS.Timeout | undefined
  #inHand = 0

  constructor({ role, ending }: { role: Role; ending: EndingRule }, parts: LiveTierParts) {
    this.role = role
    this.#parts = parts
    this.#rule = ending
    if (role === 'middle') this.#watch()
    this.#front = role === 'front' ? this.#takeIn() : Promise.resolve()
  }

  /** Of a middle: it is given a request; call what it returns when that is done. */
  begin(): () => void {
    this.#holds(1)
    this.#arrived()
    return () => this.#holds(-1)
  }

  /** A front takes nothing more. */
  leave(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#leave.abort()
  }

  /** Leaves, and resolves when it has. */
  async close(): Promise<void> {
    this.leave()
    await this.#front
  }

  async #takeIn(): Promise<void> {
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

  /** From here on it is seen whether it has something to do. */
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

  /** A timer that is there already looks again when it is due: most arrivals set none. */
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
