/** Guesses the geometric mean of all so far, whatever the request: what every other rule must beat. */

import type { Rule } from './estimator.ts'
import { guessOf, isUsable } from './guess.ts'

export function constant(): Rule {
  let rows = 0
  let meanLog = 0
  /** Of squared distances from the mean. */
  let sum = 0
  return {
    guess() {
      if (rows === 0) return undefined
      const spread = rows > 1 ? Math.sqrt(sum / (rows - 1)) : undefined
      return guessOf(Math.exp(meanLog), 'similar', { code: 'geometric-mean', rows }, spread)
    },
    learn(_question, value) {
      if (!isUsable(value)) return
      const off = Math.log(value) - meanLog
      meanLog += off / ++rows
      sum += off * (Math.log(value) - meanLog)
    },
  }
}
