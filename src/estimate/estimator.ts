/**
 * Estimation: what will this request cost? A rule (one file each) guesses one quantity of one workload; an estimator
 * puts calibrated intervals around the guesses.
 */

import type { Estimate, Features, Overhead } from '../model/estimate.ts'
import type { Quantities } from '../model/metering.ts'
import type { Reason } from '../model/reason.ts'

/** A request as estimators see it. */
export interface Question {
  workload: string
  /** Identifies the version of the workload's code: costs are comparable only within one version. */
  codeHash: string
  /** Identical only for equal requests (parameters and body). */
  key: string
  /** As parsed by the workload's schema. */
  params: unknown
  features: Features
}

/** Measured cost of a job. */
export interface Measurement {
  work: number
  peakMemoryMb: number
  /** The parts that add up to `work`, if known. */
  quantities?: Quantities
}

/** A rule's answer to a question. */
export interface Guess {
  /** Finite, and above 0. */
  value: number
  /** How far similar requests lie below and above it, in logs, if the rule can tell. */
  spread?: { below: number; above: number }
  /** Further spread in logs that the errors of past guesses say nothing about. */
  unchecked?: number
  source: Estimate['source']
  /** True: made by a model of costs that have changed since, such as those of older code. */
  carriedOver?: true
  /** The rule and its deciding numbers. */
  reason: Reason
}

/** Guesses one quantity (work, or peak memory) of one workload. */
export interface Rule {
  /** Undefined if the rule has no guess. */
  guess(question: Question): Guess | undefined
  /** `value` is finite and above 0; the estimator drops other values. `quantities` are the parts of `value`. */
  learn(question: Question, value: number, quantities?: Quantities): void
}

export interface Quote extends Estimate {
  memoryMb: number
  reason: Reason
  /** What the request takes besides `work`; undefined: `work` includes everything. */
  overhead?: Overhead
}

export interface Estimator {
  /** Optional lookup in slower storage, awaited before `estimate`. Never rejects. */
  look?(question: Question): Promise<void>
  /** Always returns a non-negative estimate; fast enough for the request path. */
  estimate(question: Question): Quote
  /** Drops invalid measurements (negative, not a number). */
  learn(question: Question, measurement: Measurement): void
}
