/** Watches a run's fleet: how long workers were paid for, and how often the fleet changed its mind. */

import type { Action, Event } from '../model.ts'
import type { Observer } from './world.ts'

const hourMs = 3_600_000

/** A worker is paid for from its launch to its end. */
export class FleetSteps implements Observer {
  #paid = 0
  #at = 0
  #paidMs = 0
  #last: 'launch' | 'ending' | undefined
  readonly #launches = new Set<string>()
  readonly #workers = new Set<string>()
  launches = 0
  endings = 0
  reversals = 0
  peak = 0

  observe(event: Event, actions: readonly Action[], now: number): void {
    if (event.type === 'joined' && event.launch !== undefined && this.#launches.delete(event.launch))
      this.#workers.add(event.worker.id)
    for (const action of actions) {
      if (action.type === 'launch') {
        this.#launches.add(action.launch)
        this.#step('launch', 1, now)
      } else if (action.type === 'abandon') {
        if (this.#launches.delete(action.launch)) this.#step('ending', -1, now)
      } else if (action.type === 'drain') this.#step('ending', 0, now)
      else if (action.type === 'terminate' && this.#workers.delete(action.worker)) this.#change(-1, now)
    }
  }

  /** Until that moment, worker-hours. */
  hours(now: number): number {
    return (this.#paidMs + this.#paid * (now - this.#at)) / hourMs
  }

  #step(step: 'launch' | 'ending', by: number, now: number): void {
    if (this.#last && this.#last !== step) this.reversals++
    this.#last = step
    if (step === 'launch') this.launches++
    else this.endings++
    if (by !== 0) this.#change(by, now)
  }

  #change(by: number, now: number): void {
    this.#paidMs += this.#paid * (now - this.#at)
    this.#at = now
    this.#paid += by
    this.peak = Math.max(this.peak, this.#paid)
  }
}
