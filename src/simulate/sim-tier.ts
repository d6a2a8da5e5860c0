/** The role of a simulated node of the tiered system: it asks to leave as a real one would. */

import type { Action } from '../model/action.ts'
import { type Ask, SelfEnding } from '../systems/tiered/self-ending.ts'
import type { EndingRule } from '../systems/tiered/tiers.ts'
import { type Happening, rank, type VirtualClock } from './clock.ts'

export class SimTier {
  readonly role: string
  readonly #clock: VirtualClock
  readonly #ask: (ask: Ask) => void
  readonly #due: Happening
  readonly #ending: SelfEnding

  constructor(
    { role, settings }: Extract<Action, { type: 'assign' }>,
    clock: VirtualClock,
    ask: (ask: Ask) => void,
  ) {
    this.role = role
    this.#clock = clock
    this.#ask = ask
    this.#due = { item: () => this.#check(), at: -1 }
    this.#ending = new SelfEnding(settings as EndingRule, clock.now)
    this.plan()
  }

  arrived(): void {
    const ask = this.#ending.arrived(this.#clock.now)
    this.plan()
    if (ask) this.#ask(ask)
  }

  holds(inHand: number): void {
    this.#ending.holds(inHand, this.#clock.now)
    this.plan()
  }

  /** Called again after a freeze. */
  plan(): void {
    const at = this.#ending.dueAt
    if (at < Infinity) this.#clock.move(this.#due, Math.max(at, this.#clock.now), rank.message)
    else this.#clock.cancel(this.#due)
  }

  stop(): void {
    this.#clock.cancel(this.#due)
  }

  #check(): void {
    const ask = this.#ending.check(this.#clock.now)
    this.plan()
    if (ask) this.#ask(ask)
  }
}
