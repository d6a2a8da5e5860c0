/**
 * Guesses several quantities: the same request, else a model built from the ledger's rows and rebuilt when enough rows
 * were added, else a formula of the workload's parameters, else the mean so far.
 */

import { chain } from '../../estimate/chain.ts'
import { constant } from '../../estimate/constant.ts'
import type { Question, Rule } from '../../estimate/estimator.ts'
import { memo } from '../../estimate/memo.ts'
import { summed } from '../../estimate/quantities.ts'
import type { Quantities } from '../../model/metering.ts'
import { polynomial } from './log-polynomial.ts'
import { rough } from './rough.ts'

export interface StoredRow {
  question: Question
  work: number
  quantities: Quantities
}

export interface StoreTrained extends Rule {
  /** Rebuilds the models from these rows, oldest first; returns their number. */
  train(rows: readonly StoredRow[]): number
  /** Whether equal requests are known. */
  knows(question: Question): boolean
  /** Adds a stored row to the known requests. */
  recall(row: StoredRow): void
}

/** Models are rebuilt when the rows have grown by this share, and by at least a handful. */
const growth = 0.1
const handful = 5
/** A model is fitted to this many of the newest rows. */
const mostRows = 2000

/** `enough` is called when the models are to be rebuilt; its promise never rejects. */
export function storeTrained(
  names: readonly string[],
  enough: () => Promise<void>,
  cell?: Quantities,
): StoreTrained {
  const each = (make: (name: string) => Rule) =>
    summed(Object.fromEntries(names.map((name) => [name, make(name)])))
  const cache = each(() => memo())
  let model: Rule | undefined
  let [trained, fresh, asked] = [0, 0, false]
  const known: Rule = {
    guess: (question) => model?.guess(question),
    learn() {},
  }
  const all = chain(
    cache,
    known,
    each((name) => rough(name, cell)),
    each(() => constant()),
  )
  const knows = (question: Question) => cache.guess(question) !== undefined
  const recall = ({ question, work, quantities }: StoredRow) => cache.learn(question, work, quantities)
  return {
    guess: (question) => all.guess(question),
    learn(question, value, quantities) {
      if (!quantities) return
      all.learn(question, value, quantities)
      fresh++
      if (asked || fresh < Math.max(handful, growth * trained)) return
      asked = true
      enough().then(() => {
        asked = false
      })
    },
    train(rows) {
      const next = each(() => polynomial(mostRows))
      for (const row of rows) {
        next.learn(row.question, row.work, row.quantities)
        // Another process may have written the row.
        if (!knows(row.question)) recall(row)
      }
      model = next
      ;[trained, fresh] = [rows.length, 0]
      return rows.length
    },
    knows,
    recall,
  }
}
