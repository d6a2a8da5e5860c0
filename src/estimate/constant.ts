/** Guesses the geometric mean of all measurements, whatever the request: the baseline for every other rule. */

import type { Rule } from './estimator.ts'
import { guessOf, isUsable } from './guess.ts'

export function constant(): Rule {
  let rows = 0
  let meanLog = 0
  /** Sum of squared deviations from the mean (Welford). */
  let squares = 0
  return {
    guess() {
      if (rows === 0) return undefined
      const spread = rows > 1 ? Math.sqrt(squares / (rows - 1)) : undefined
      return guessOf(Math.exp(meanLog), 'similar', { code: 'geometric-mean', rows }, spread)
    },
    learn(_question, value) {
      if (!isUsable(value)) return
      const off = Math.log(value) - meanLog
      meanLog += off / ++rows
      squares += off * (Math.log(value) - meanLog)
    },
  }
}
