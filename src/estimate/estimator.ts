/** Estimation: what will this request cost? One file per estimator. */

import type { Estimate } from '../model.ts'

/** What an estimator may look at. */
export interface Question {
  workload: string
  params: unknown
  bodyBytes: number
}

export interface Measurement {
  work: number
  peakMemoryMb: number
}

export interface Estimator {
  /** Always an answer, never negative, fast enough for the path of a request. */
  estimate(question: Question): Estimate & { memoryMb: number }
  learn(question: Question, measurement: Measurement): void
}
