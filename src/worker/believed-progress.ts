/** What the brain believes about the progress of a worker's attempts, so that only differences are reported to it. */
import { type AttemptState, holdsCore } from './attempt-state.ts'

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
    attempt.reported = { done, at: performance.now(), onCore: holdsCore(attempt) }
  }

  /** `extrapolates`: the brain knows which jobs run, and so extrapolates their progress. */
  of({ reported }: AttemptState, extrapolates: boolean): number {
    if (!reported.onCore || !extrapolates) return reported.done
    return reported.done + (performance.now() - reported.at) * this.#nominal * this.#pace
  }

  /** The brain extrapolates at the pace that follows from the number of attempts that run. */
  setRunning(attempts: readonly AttemptState[], running: number, extrapolates: boolean): void {
    const pace = Math.min(1, this.#cores / Math.max(1, running))
    if (pace === this.#pace) return
    for (const attempt of attempts) if (attempt.running) this.mark(attempt, this.of(attempt, extrapolates))
    this.#pace = pace
  }
}
