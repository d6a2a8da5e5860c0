/** How much of a program a job has had: CPU time if it is alone there, else time in service. */
import type { CpuAccount } from './cpu-account.ts'

/** What was read is good for so long: whoever ranks jobs asks often. */
const freshMs = 5
/** Nor is it read sooner: of a short answer head and end are one. */
const leastMs = 1
/** Threads that may end are looked at each time a job is older by such a part. */
const watchPart = 0.2

export class JobMeter {
  readonly #account: CpuAccount | undefined
  #usedMs = 0
  #sampledAt = performance.now()
  /** Time in service before the last pause, and since when it goes on. */
  #servedMs = 0
  #since: number | undefined = performance.now()
  #timer: NodeJS.Timeout | undefined

  constructor(account: CpuAccount | undefined) {
    this.#account = account
    this.#watch()
  }

  get measure(): 'cpu' | 'time' {
    return this.#account ? 'cpu' : 'time'
  }

  /** What was last known. */
  get usedMs(): number {
    return this.#usedMs
  }

  /** What is known now, more or less. */
  read(): number {
    if (this.#since !== undefined && performance.now() - this.#sampledAt > freshMs) this.sample()
    return this.#usedMs
  }

  sample(): void {
    if (this.#isDue()) this.#usedMs = this.#account?.sample() ?? this.#serviceMs()
  }

  /** The answer has come, or its end. */
  answered(): void {
    if (this.#isDue()) this.#usedMs = this.#account?.sampleAtAnswer() ?? this.#serviceMs()
  }

  pause(): void {
    clearTimeout(this.#timer)
    this.#servedMs = this.#serviceMs()
    this.#since = undefined
  }

  resume(): void {
    this.#since ??= performance.now()
    this.#watch()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #isDue(): boolean {
    const now = performance.now()
    if (now - this.#sampledAt < leastMs) return false
    this.#sampledAt = now
    return true
  }

  #serviceMs(): number {
    return this.#servedMs + (this.#since === undefined ? 0 : performance.now() - this.#since)
  }

  #watch(): void {
    if (!this.#account?.mustBeWatched) return
    clearTimeout(this.#timer)
    const waitMs = Math.max(1, watchPart * this.#serviceMs())
    this.#timer = setTimeout(() => {
      this.sample()
      this.#watch()
    }, waitMs).unref()
  }
}
