/** Virtual time: an agenda of callbacks, ordered by time, then rank, then sequence. */

import { type Entry, Heap } from '../lib/heap.ts'

/** The order of callbacks at the same instant: a job that ends makes room for one that arrives. */
export const rank = { worker: 0, message: 1, fault: 2, arrival: 3, tick: 4 } as const

export type Happening = Entry<() => void>

export class VirtualClock {
  now = 0
  readonly #agenda = new Heap<() => void>()
  #seq = 0

  /** Calls `happen` at `time`. The result serves to move or cancel it. */
  at(time: number, order: number, happen: () => void): Happening {
    return this.#agenda.push(happen, this.#instant(time), this.#tie(order))
  }

  /** Moves a pending callback, or schedules it again after it was called. */
  move(happening: Happening, time: number, order: number): void {
    this.#agenda.put(happening, this.#instant(time), this.#tie(order))
  }

  cancel(happening: Happening): void {
    this.#agenda.remove(happening)
  }

  /** Calls the next callback. False: none is left before or at `until`. */
  step(until = Infinity): boolean {
    const time = this.#agenda.topKey()
    if (time > until || this.#agenda.size === 0) return false
    this.now = time
    this.#agenda.pop()!()
    return true
  }

  /** Time advances in whole microseconds, which keeps event logs short. */
  #instant(time: number): number {
    const nearest = Math.round(time * 1000)
    const rounded = nearest / 1000
    // Rounds up, but leaves whole microseconds unchanged.
    return Math.max(rounded < time ? (nearest + 1) / 1000 : rounded, this.now)
  }

  #tie(order: number): number {
    return order * 2 ** 45 + ++this.#seq
  }
}
