/** Counts the launches of a run, and how often scaling changed direction. */

import type { Action } from '../model/action.ts'
import type { Event } from '../model/event.ts'
import type { Observer } from './environment.ts'

export class FleetSteps implements Observer {
  #last: 'launch' | 'scale-in' | undefined
  launches = 0
  /** Launches after a scale-in, and scale-ins after a launch. */
  reversals = 0

  observe(_: Event, actions: readonly Action[]): void {
    for (const { type } of actions) {
      if (type === 'launch') {
        this.launches++
        this.#step('launch')
      } else if (type === 'abandon' || type === 'drain') this.#step('scale-in')
    }
  }

  #step(step: 'launch' | 'scale-in'): void {
    if (this.#last && this.#last !== step) this.reversals++
    this.#last = step
  }
}
