/**
 * Estimation: what will this request cost? A rule guesses one quantity of one workload, one file each; an estimator
 * puts calibrated intervals around the guesses of rules.
 */

import type { Estimate, Features } from '../model/estimate.ts'
import type { Quantities } from '../model/metering.ts'
import type { Reason } from '../model/reason.ts'

/** What an estimator may look at. */
export interface Question {
  workload: string
  /** Names the version of the workload's code: costs are comparable only within one. */
  codeHash: string
  /** The same for equal requests only: parameters and body. */
  key: string
  /** As the workload's schema gave them. */
  params: unknown
  features: Features
}

/** What a job took. */
export interface Measurement {
  work: number
  peakMemoryMb: number
  /** What work is the sum of, where that is known. */
  quantities?: Quantities
}

/** What a rule makes of a question. */
export interface Guess {
  /** Finite, and above 0. */
  value: number
  /** How far below and above it like requests lie, in logs, as far as the rule can tell. */
  spread?: { below: number; above: number }
  source: Estimate['source']
  /** Which rule, and the numbers that decided. */
  reason: Reason
}

/** Guesses one quantity (work, or peak memory) of one workload. */
export interface Rule {
  /** Undefined: it has nothing to say. */
  guess(question: Question): Guess | undefined
  /** `value` is finite and above 0: the estimator drops others. `quantities`: what it is the sum of. */
  learn(question: Question, value: number, quantities?: Quantities): void
}

export interface Quote extends Estimate {
  memoryMb: number
  reason: Reason
}

export interface Estimator {
  /** Where there is one: to be awaited before `estimate`, for it asks where asking takes time. Never rejects. */
  look?(question: Question): Promise<void>
  /** Always an answer, never negative, fast enough for the path of a request. */
  estimate(question: Question): Quote
  /** Measurements that cannot be true (negative, not a number) are dropped. */
  learn(question: Question, measurement: Measurement): void
}
