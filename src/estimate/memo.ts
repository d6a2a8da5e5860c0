/** Remembers the cost of equal requests: same parameters, body and code. */

import type { Question, Rule } from './estimator.ts'
import { guessOf, isUsable } from './guess.ts'
import { Recent } from './recent.ts'

/** Least weight of the newest repeat, so that the mean follows drift. */
const weight = 0.2
/** Number of rows with the same variance as a mean with that weight. */
const effectiveRows = 2 / weight - 1

interface Remembered {
  repeats: number
  mean: number
  meanLog: number
  varianceLog: number
}

/** Holds the `keys` most recently used requests. */
export function memo({ keys = 10_000 }: { keys?: number | undefined } = {}): Rule {
  const seen = new Recent<Remembered>(keys)
  return {
    guess(question) {
      const found = seen.get(keyOf(question))
      if (!found) return undefined
      const { mean, repeats } = found
      return guessOf(mean, 'memo', { code: 'memo', repeats }, spreadOf(found))
    },
    learn(question, value) {
      if (!isUsable(value)) return
      const key = keyOf(question)
      const found = seen.get(key)
      if (found) add(found, value)
      else seen.set(key, { repeats: 1, mean: value, meanLog: Math.log(value), varianceLog: 0 })
    },
  }
}

function keyOf({ codeHash, key }: Question): string {
  return `${codeHash}\n${key}`
}

function add(row: Remembered, value: number): void {
  const share = Math.max(weight, 1 / ++row.repeats)
  const off = Math.log(value) - row.meanLog
  row.mean += share * (value - row.mean)
  row.meanLog += share * off
  row.varianceLog = (1 - share) * (row.varianceLog + share * off * off)
}

/** Assumed spread of a single measurement, in logs: metered work is nearly exact. */
const singleSpread = 0.1

function spreadOf({ repeats, varianceLog }: Remembered): number {
  if (repeats < 2) return singleSpread
  const rows = Math.min(repeats, effectiveRows)
  return Math.sqrt((varianceLog * rows) / (rows - 1))
}
