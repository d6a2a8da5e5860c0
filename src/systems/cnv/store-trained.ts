/**
 * Guesses each of several quantities: the same request as before, else a model that is made of the store's rows and made
 * anew when enough new ones came, else the mean so far.
 */

import { chain } from '../../estimate/chain.ts'
import { constant } from '../../estimate/constant.ts'
import type { Question, Rule } from '../../estimate/estimator.ts'
import { memo } from '../../estimate/memo.ts'
import { summed } from '../../estimate/quantities.ts'
import type { Quantities } from '../../model/metering.ts'
import { polynomial } from './log-polynomial.ts'

export interface StoredRow {
  question: Question
  work: number
  quantities: Quantities
}

export interface StoreTrained extends Rule {
  /** Makes the models anew of the store's rows, the oldest first; tells how many there were. */
  train(rows: readonly StoredRow[]): number
}

/** Models are made anew when so many rows came, at least a handful. */
const growth = 0.1
const handful = 5
/** The newest rows that a model is made of. */
const mostRows = 2000

/** `enough`: so many rows are new that the models are to be made anew; what it returns never rejects. */
export function storeTrained(names: readonly string[], enough: () => Promise<void>): StoreTrained {
  const each = (make: () => Rule) => summed(Object.fromEntries(names.map((name) => [name, make()])))
  const cache = each(() => memo())
  const rough = each(constant)
  let model: Rule | undefined
  let [trained, fresh, asked] = [0, 0, false]
  const known: Rule = {
    guess: (question) => model?.guess(question),
    learn() {},
  }
  const all = chain(cache, known, rough)
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
      for (const { question, work, quantities } of rows) {
        next.learn(question, work, quantities)
        // Others may have written it.
        if (!cache.guess(question)) cache.learn(question, work, quantities)
      }
      model = next
      ;[trained, fresh] = [rows.length, 0]
      return rows.length
    },
  }
}
