/** Virtual time: things that will happen, in order of time, then rank, then the order in which they were asked for. */

import { type Entry, Heap } from '../lib/heap.ts'

/** What happens first among things at the same instant: a job that ends makes room for one that arrives. */
export const rank = { worker: 0, message: 1, fault: 2, arrival: 3, tick: 4 } as const

export type Happening = Entry<() => void>

export class VirtualClock {
  now = 0
  readonly #agenda = new Heap<() => void>()
  #seq = 0

  /** Calls `happen` at `time`. Keep what it returns to move or call it off. */
  at(time: number, order: number, happen: () => void): Happening {
    return this.#agenda.push(happen, this.#instant(time), this.#tie(order))
  }

  /** Moves a happening, or puts it back after it happened. */
  move(happening: Happening, time: number, order: number): void {
    this.#agenda.put(happening, this.#instant(time), this.#tie(order))
  }

  cancel(happening: Happening): void {
    this.#agenda.remove(happening)
  }

  /** Lets the next thing happen. False: nothing is left, or what is left lies after `until`. */
  step(until = Infinity): boolean {
    const time = this.#agenda.topKey()
    if (time > until || this.#agenda.size === 0) return false
    this.now = time
    this.#agenda.pop()!()
    return true
  }

  /** Time goes in whole microseconds: far finer than anything simulated, and short to write down. */
  #instant(time: number): number {
    const nearest = Math.round(time * 1000)
    const rounded = nearest / 1000
    // Never early; and what is a whole microsecond stays what it is.
    return Math.max(rounded < time ? (nearest + 1) / 1000 : rounded, this.now)
  }

  #tie(order: number): number {
    return order * 2 ** 45 + ++this.#seq
  }
}
