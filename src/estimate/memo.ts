/** Remembers what equal requests took: the same parameters and body, and the same code. */

import type { Question, Rule } from './estimator.ts'
import { guessOf, isUsable } from './guess.ts'
import { Recent } from './recent.ts'

/** How much the newest repeat counts at least, so that the mean follows what drifts. */
const weight = 0.2
/** As many rows as a mean with that weight is worth. */
const effectiveRows = 2 / weight - 1

interface Remembered {
  repeats: number
  mean: number
  meanLog: number
  varianceLog: number
}

/** Knows the last `keys` different requests. */
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

/** Nobody knows how far another measurement is from the only one; work is exact, so it will not be far. */
const unrepeated = 0.1

function spreadOf({ repeats, varianceLog }: Remembered): number {
  if (repeats < 2) return unrepeated
  const rows = Math.min(repeats, effectiveRows)
  return Math.sqrt((varianceLog * rows) / (rows - 1))
}
