/** Watches a run's fleet: how often it was launched for, and how often it changed its mind. What that cost is the bill's (money.ts). */

import type { Action } from '../model/action.ts'
import type { Event } from '../model/event.ts'
import type { Observer } from './environment.ts'

export class FleetSteps implements Observer {
  #last: 'launch' | 'ending' | undefined
  launches = 0
  /** A launch after an ending, or an ending after a launch. */
  reversals = 0

  observe(_: Event, actions: readonly Action[]): void {
    for (const { type } of actions) {
      if (type === 'launch') {
        this.launches++
        this.#step('launch')
      } else if (type === 'abandon' || type === 'drain') this.#step('ending')
    }
  }

  #step(step: 'launch' | 'ending'): void {
    if (this.#last && this.#last !== step) this.reversals++
    this.#last = step
  }
}
