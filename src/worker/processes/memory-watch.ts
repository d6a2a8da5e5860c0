/** Samples the resident memory of a running job, more often the closer it is to its limit. */

/** Upper bound on allocation speed: the kernel provides about half of it per core. */
const maxMbPerMs = 4
const minIntervalMs = 5
const maxIntervalMs = 100

export class MemoryWatch {
  peakMb = 0
  /** The last sample. */
  lastMb = 0
  #timer: NodeJS.Timeout | undefined
  readonly #usedMb: () => number | undefined
  readonly #limitMb: number
  readonly #on: { exceeded(usedMb: number): void; sampled(): void }

  /** `usedMb` returns undefined if the process has ended. */
  constructor(
    usedMb: () => number | undefined,
    limitMb: number,
    on: { exceeded(usedMb: number): void; sampled(): void },
  ) {
    this.#usedMb = usedMb
    this.#limitMb = limitMb
    this.#on = on
  }

  /** Idempotent. */
  start(): void {
    if (!this.#timer) this.#wait(minIntervalMs)
  }

  /** A stopped process allocates no memory, so it needs no watch. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => this.#sample(), ms)
    this.#timer.unref()
  }

  #sample(): void {
    const usedMb = this.#usedMb()
    if (usedMb === undefined) return
    this.lastMb = usedMb
    this.peakMb = Math.max(this.peakMb, usedMb)
    if (usedMb > this.#limitMb) return this.#on.exceeded(usedMb)
    const intervalMs = (this.#limitMb - usedMb) / maxMbPerMs
    this.#wait(Math.min(maxIntervalMs, Math.max(minIntervalMs, intervalMs)))
    this.#on.sampled()
  }
}
