/**
 * The retry budget: what retries do again may make up a fifth of the recently admitted work, so that failures which all jobs
 * meet do not multiply the load. Both sums halve in the same time.
 */

import type { Entry } from '../../lib/heap.ts'
import { type Random, stream } from '../../lib/random.ts'
import type { RetryRule } from '../limits.ts'
import type { JobRecord } from '../state.ts'
import type { Timer } from '../timer.ts'

export class RetryBudget {
  readonly #rule: RetryRule
  #admitted = 0
  #retried = 0
  #at = 0

  constructor(rule: RetryRule) {
    this.#rule = rule
  }

  /** Work in milliseconds of a core. */
  admit(ms: number, now: number): void {
    this.#decay(now)
    this.#admitted += this.#counted(ms)
  }

  spend(ms: number, now: number): void {
    this.#decay(now)
    this.#retried += this.#counted(ms)
  }

  /** When the next retry may start; `now` or earlier: at once. One that starts may exceed the budget. */
  freeAt(now: number): number {
    this.#decay(now)
    const { share, leastMs, halfMs } = this.#rule
    const over = this.#retried - share * this.#admitted
    return over < leastMs ? now : now + Math.ceil(halfMs * Math.log2(over / leastMs)) + 1
  }

  /** A single long job, whose work is far more than all others admit, must not use up the budget for long. */
  #counted(ms: number): number {
    return Math.min(ms, this.#rule.mostMs)
  }

  #decay(now: number): void {
    const left = 2 ** ((this.#at - now) / this.#rule.halfMs)
    this.#at = now
    this.#admitted *= left
    this.#retried *= left
  }
}

/** The retries of a brain. */
export interface Retries {
  readonly rule: RetryRule
  readonly budget: RetryBudget
  readonly random: Random
  /** Jobs that wait until the budget allows their retries, and when that is. */
  readonly waiting: Set<JobRecord>
  timer: Entry<Timer> | undefined
}

export function newRetries(rule: RetryRule, seed: number): Retries {
  const random = stream(seed, 'retries')
  return { rule, budget: new RetryBudget(rule), random, waiting: new Set(), timer: undefined }
}
