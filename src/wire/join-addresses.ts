/** The addresses of the clusters that a worker or a front may join, and which of them it tries next. */

import { isSecure } from './connect.ts'

/** Delay between two attempts to join one of several clusters. It grows, and is spread, so that not all come at once. */
const [firstWaitMs, longestWaitMs] = [50, 500]
/** An address of several must answer within this time: the machine behind it may be dead. */
const connectMs = 2_000

export class JoinAddresses {
  readonly all: readonly URL[]
  readonly #random: () => number
  #at = 0
  #waitMs = firstWaitMs

  constructor(all: readonly URL[], random: () => number = Math.random) {
    this.all = all
    this.#random = random
  }

  /** True: it joins the one of several clusters that leads. */
  get isFollower(): boolean {
    return this.all.length > 1
  }

  get current(): URL {
    return this.all[this.#at]!
  }

  /** All have the same protocol. */
  get isSecure(): boolean {
    return isSecure(this.current)
  }

  /** Undefined: the usual time limit of a connection. */
  get limitMs(): number | undefined {
    return this.isFollower ? connectMs : undefined
  }

  /** Goes on with the next address, and returns after which time. */
  next(): number {
    this.#at = (this.#at + 1) % this.all.length
    const waitMs = this.#waitMs * (0.5 + this.#random() / 2)
    this.#waitMs = Math.min(longestWaitMs, this.#waitMs * 2)
    return waitMs
  }

  /** The present one leads. */
  joined(): void {
    this.#waitMs = firstWaitMs
  }
}
