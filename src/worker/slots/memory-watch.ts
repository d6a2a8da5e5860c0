/** Looks at a running job's resident memory as often as the room that is left demands. */

/** No job gets memory faster: the kernel hands out about half as much a core. */
const fastestMbPerMs = 4
const leastMs = 5
const mostMs = 100

export class MemoryWatch {
  peakMb = 0
  #timer: NodeJS.Timeout | undefined
  readonly #usedMb: () => number | undefined
  readonly #boundMb: number
  readonly #on: { over(usedMb: number): void; looked(): void }

  /** `usedMb` says nothing of a process that is gone. */
  constructor(
    usedMb: () => number | undefined,
    boundMb: number,
    on: { over(usedMb: number): void; looked(): void },
  ) {
    this.#usedMb = usedMb
    this.#boundMb = boundMb
    this.#on = on
  }

  /** Idempotent. */
  start(): void {
    if (!this.#timer) this.#wait(leastMs)
  }

  /** A stopped process does not grow. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => this.#look(), ms)
    this.#timer.unref()
  }

  #look(): void {
    const usedMb = this.#usedMb()
    if (usedMb === undefined) return
    this.peakMb = Math.max(this.peakMb, usedMb)
    if (usedMb > this.#boundMb) return this.#on.over(usedMb)
    this.#wait(Math.min(mostMs, Math.max(leastMs, (this.#boundMb - usedMb) / fastestMbPerMs)))
    this.#on.looked()
  }
}
