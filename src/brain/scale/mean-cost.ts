/**
 * The mean cost of a job. It is learned over a long time, because with heavy tails a short sample misleads. A job whose
 * estimate is not proven counts when it has ended, with what it took: its estimate may be off by any factor.
 */

/** A larger factor between actual and expected time is not corrected: that time is not work. */
const mostFactor = 10

export class MeanCost {
  readonly #memoryMs: number
  /** Decaying sums over arrivals: jobs, and their expected seconds. */
  #jobs = 0
  #seconds = 0
  /** Decaying sums over finished jobs: their number, the seconds they took, and those expected. */
  #over = 0
  #ended = 0
  #expected = 0

  constructor(memoryMs: number) {
    this.#memoryMs = memoryMs
  }

  arrived(seconds: number, unproven: boolean): void {
    // Until a job has ended, estimates are all that is known.
    if (unproven && this.#over > 0) return
    this.#jobs++
    this.#seconds += seconds
  }

  /** Learns the error of estimates, apart from the estimates themselves. */
  finished(seconds: number, expected: number, unproven: boolean): void {
    if (unproven) {
      this.#jobs++
      this.#seconds += seconds
    }
    this.#over++
    this.#ended += seconds
    this.#expected += unproven ? seconds : expected
  }

  /** Lets all sums decay by this much time. */
  age(ms: number): void {
    const keep = Math.exp(-ms / this.#memoryMs)
    this.#jobs *= keep
    this.#seconds *= keep
    this.#over *= keep
    this.#ended *= keep
    this.#expected *= keep
  }

  /** Seconds of a core; 0: nothing is known. */
  get seconds(): number {
    return this.#jobs === 0 ? 0 : this.really(this.#seconds / this.#jobs, 1)
  }

  /** The actual seconds of jobs with these expected seconds: corrects errors of estimates and of announced rates. */
  really(seconds: number, jobs: number): number {
    if (this.#over === 0) return seconds
    const factor = this.#expected > 0 ? Math.min(mostFactor, this.#ended / this.#expected) : mostFactor
    return seconds * factor + (jobs * Math.max(0, this.#ended - factor * this.#expected)) / this.#over
  }
}
