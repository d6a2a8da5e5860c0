/**
 * The default: a model of costs, made anew in the background as measurements come, with a correction that follows
 * each of them. New code, or costs that changed, start from the model that was.
 */

import type { Rule } from './estimator.ts'
import { guessOf, isUsable } from './guess.ts'
import { Correction, settled, unsettled } from './learned/correction.ts'
import type { FitRow, Model } from './learned/fit.ts'
import type { Fitter } from './learned/fitter.ts'
import { type Prediction, predictor } from './learned/predict.ts'
import { type Reading, read } from './reading.ts'

export interface LearnedOptions {
  fitter: Fitter
  /** Requests that the model hangs on: more take longer to ask. */
  posts?: number
  /** The newest rows that a model is made of. */
  rows?: number
}

export interface Learned extends Rule {
  /** Resolves when no model is being made. */
  settled(): Promise<void>
  /** The model of now, to start from at another time. */
  model(): { codeHash: string; model: Model } | undefined
  restore(codeHash: string, model: Model): void
}

interface Row {
  reading: Reading
  log: number
  regime: number
}

/** A model is made anew when so many more rows came, and at least a few. */
const growth = 0.25
const [leastRows, fewRows] = [5, 3]
/** So many misses in a row, nearly all to the same side, are no chance: costs have changed. */
const [watched, sameSide] = [24, 22]
/** Rows of what was before are of no more use when there are so many new ones. */
const enoughNew = 60

export function learned({ fitter, posts = 256, rows: most = 1000 }: LearnedOptions): Learned {
  const rows: Row[] = []
  let code: string | undefined
  let regime = { number: 0, rows: 0 }
  let nextFit = leastRows
  let fitting: Promise<void> | undefined
  let current: { model: Model; predict: (reading: Reading) => Prediction; correction: Correction } | undefined
  let sides: boolean[] = []

  function use(model: Model, freedom = settled): void {
    const correction = new Correction(model.encoding.numbers.length, freedom)
    current = { model, predict: predictor(model), correction }
    sides = []
  }

  /** What was learned so far may not be true any more. */
  function change(): void {
    regime = { number: regime.number + 1, rows: 0 }
    nextFit = leastRows
    if (current) use(current.model, unsettled)
  }

  function fitRows(): FitRow[] {
    if (regime.rows >= enoughNew) return rows.filter((row) => row.regime === regime.number).map(asItIs)
    return rows.map((row) => {
      if (row.regime === regime.number || !current) return asItIs(row)
      // As it would be today, as far as the correction knows.
      const { request } = current.predict(row.reading)
      return { reading: row.reading, log: row.log + current.correction.of(request), doubt: 1 + regime.rows }
    })
  }

  function fitIfDue(): void {
    if (fitting || regime.rows < nextFit) return
    nextFit = Math.max(regime.rows + fewRows, Math.ceil(regime.rows * (1 + growth)))
    const { number } = regime
    const settings = current?.model.shape.settings
    fitting = fitter.fit(fitRows(), { posts, ...(settings && { settings }) }).then((model) => {
      fitting = undefined
      if (model && number === regime.number) use(model)
      fitIfDue()
    })
  }

  return {
    guess(question) {
      if (!current) return undefined
      const { log, below, above, nearest, request } = current.predict(read(question.features))
      const { family, rows: basis } = current.model
      const value = Math.exp(log + current.correction.of(request))
      const reason = { code: 'learned', family, rows: basis, likeness: Math.round(nearest * 100) / 100 }
      const guess = guessOf(value, 'model', reason)
      return guess && { ...guess, spread: { below, above } }
    },
    learn(question, value) {
      if (!isUsable(value)) return
      const reading = read(question.features)
      const log = Math.log(value)
      if (code !== undefined && code !== question.codeHash) change()
      code = question.codeHash
      if (current) {
        const prediction = current.predict(reading)
        const { request, below, above } = prediction
        const miss = log - prediction.log
        sides.push(miss > current.correction.of(request))
        if (sides.length > watched) sides.shift()
        current.correction.learn(request, miss, (below + above) / 3.3)
        const up = sides.filter(Boolean).length
        if (up >= sameSide || (sides.length === watched && watched - up >= sameSide)) change()
      }
      rows.push({ reading, log, regime: regime.number })
      if (rows.length > most) rows.shift()
      regime.rows++
      fitIfDue()
    },
    async settled() {
      while (fitting) await fitting
    },
    model: () => current && { codeHash: code ?? '', model: current.model },
    restore(codeHash, model) {
      code = codeHash
      use(model)
    },
  }
}

function asItIs({ reading, log }: Row): FitRow {
  return { reading, log, doubt: 1 }
}
