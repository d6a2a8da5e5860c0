/** Measures a job in a program: CPU time if the job has the program to itself, otherwise time in service. */
import type { CpuAccount } from './cpu-account.ts'

/** A sample is reused for this time, because the supervisor reads it often. */
const freshMs = 5
/** Minimum time between samples: the head and the end of a short answer arrive together. */
const minIntervalMs = 1
/** Interval between samples of short-lived threads, as a share of the job's age. */
const samplingShare = 0.2

export class JobMeter {
  readonly #account: CpuAccount | undefined
  #sampled = false
  #usedMs = 0
  #sampledAt = performance.now()
  /** Time in service before the last pause, and the time of the last resume. */
  #servedMs = 0
  #since: number | undefined = performance.now()
  #timer: NodeJS.Timeout | undefined

  constructor(account: CpuAccount | undefined) {
    this.#account = account
    this.#planSample()
  }

  get measure(): 'cpu' | 'time' {
    return this.#account ? 'cpu' : 'time'
  }

  /** The last sample. */
  get usedMs(): number {
    return this.#usedMs
  }

  /** A sample that is at most `freshMs` old. */
  read(): number {
    if (this.#since !== undefined && performance.now() - this.#sampledAt > freshMs) this.sample()
    return this.#usedMs
  }

  sample(): void {
    if (!this.#isDue()) return
    this.#usedMs = this.#account?.sample() ?? this.#serviceMs()
    this.#sampled = true
  }

  /** Samples when the head or the end of the answer arrives. */
  answered(): void {
    if (!this.#isDue()) return
    this.#usedMs = this.#account?.sampleAtAnswer() ?? this.#serviceMs()
    this.#sampled = true
  }

  pause(): void {
    clearTimeout(this.#timer)
    this.#servedMs = this.#serviceMs()
    this.#since = undefined
  }

  resume(): void {
    this.#since ??= performance.now()
    this.#planSample()
  }

  /** A job too short to be sampled counts with its time in service. */
  stop(): void {
    clearTimeout(this.#timer)
    if (this.#sampled) return
    this.#usedMs = this.#serviceMs()
    this.#account?.charge(this.#usedMs)
  }

  #isDue(): boolean {
    const now = performance.now()
    if (now - this.#sampledAt < minIntervalMs) return false
    this.#sampledAt = now
    return true
  }

  #serviceMs(): number {
    return this.#servedMs + (this.#since === undefined ? 0 : performance.now() - this.#since)
  }

  #planSample(): void {
    if (!this.#account?.needsSampling) return
    clearTimeout(this.#timer)
    const waitMs = Math.max(1, samplingShare * this.#serviceMs())
    this.#timer = setTimeout(() => {
      this.sample()
      this.#planSample()
    }, waitMs).unref()
  }
}
