/** What the brain believes about the progress of a worker's attempts, so that only differences are reported to it. */
import { type AttemptState, holdsCore } from './attempt-state.ts'

/** Differences below this CPU time are not reported to the brain. */
const toleranceMs = 20
/** Shorter attempts do not stand still. */
const leastCoreMs = 1000

export class BelievedProgress {
  readonly #cores: number
  /** Work per millisecond that the brain assumes for every job. */
  readonly #nominal: number
  /** The part of a core that each running attempt has: less than 1 if unproven attempts share the cores. */
  #pace = 1

  constructor(cores: number, nominal: number) {
    this.#cores = cores
    this.#nominal = nominal
  }

  /** The brain knows that this much is done now, and whether the attempt holds a core. */
  mark(attempt: AttemptState, done: number): void {
    attempt.active.coreMs = this.#coreMs(attempt)
    attempt.reported = { done, at: performance.now(), onCore: holdsCore(attempt) }
  }

  /** `extrapolates`: the brain knows which jobs run, and so extrapolates their progress. */
  of({ reported }: AttemptState, extrapolates: boolean): number {
    if (!reported.onCore || !extrapolates) return reported.done
    return reported.done + (performance.now() - reported.at) * this.#nominal * this.#pace
  }

  /** Time until the brain, where it extrapolates, believes that the running attempt has done all that is expected of it. */
  msUntilEnd(attempt: AttemptState): number {
    return (attempt.expected - this.of(attempt, true)) / (this.#nominal * this.#pace)
  }

  /**
   * True: the brain believes that the attempt has ended, and it has not. Until it knows better, the brain lets shorter jobs
   * wait for that end.
   */
  isLate(attempt: AttemptState, done: number): boolean {
    return done < attempt.expected && this.msUntilEnd(attempt) <= 0
  }

  /** True: what the brain believes is close enough to what is done. */
  isClose(attempt: AttemptState, done: number, extrapolates: boolean): boolean {
    const believed = this.of(attempt, extrapolates)
    return Math.abs(done - believed) <= 0.1 * believed + toleranceMs * this.#nominal
  }

  /** By what the brain judges whether the attempt stands still; undefined: not known, or it has not run for long. */
  activity(attempt: AttemptState): { activeMs: number; cpuMs: number } | undefined {
    const coreMs = this.#coreMs(attempt)
    const activeMs = coreMs < leastCoreMs ? undefined : attempt.active.read(coreMs, attempt.run!.demandMs?.())
    return activeMs === undefined ? undefined : { activeMs, cpuMs: attempt.run!.cpuMs() }
  }

  /** Time that the attempt had a core so far, or its part of one. */
  #coreMs({ active, reported }: AttemptState): number {
    return active.coreMs + (reported.onCore ? (performance.now() - reported.at) * this.#pace : 0)
  }

  /** The brain extrapolates at the pace that follows from the number of attempts that run. */
  setRunning(attempts: readonly AttemptState[], running: number, extrapolates: boolean): void {
    const pace = Math.min(1, this.#cores / Math.max(1, running))
    if (pace === this.#pace) return
    for (const attempt of attempts) if (attempt.running) this.mark(attempt, this.of(attempt, extrapolates))
    this.#pace = pace
  }
}
