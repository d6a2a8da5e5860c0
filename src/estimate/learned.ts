/**
 * The default: a model of costs, made anew in the background as measurements come, with a correction that follows
 * each of them. New code, or costs that changed, start from the model that was.
 */

import type { Rule } from './estimator.ts'
import { guessOf, isUsable } from './guess.ts'
import { Correction, settled, unsettled } from './learned/correction.ts'
import type { FitRow } from './learned/data.ts'
import { type FitOptions, type Model, widthOf } from './learned/fit.ts'
import type { Fitter } from './learned/fitter.ts'
import { type Prediction, predictor } from './learned/predict.ts'
import { type Reading, read } from './reading.ts'

export interface LearnedOptions {
  fitter: Fitter
  /** Requests that the model hangs on: more take longer to ask. */
  posts?: number
  /** The newest rows that a model is made of. */
  rows?: number
  /** A model is made anew when there are so many more rows, as a share of those it was made of. */
  growth?: number
  /** Told of each new model, to start from at another time. */
  made?(codeHash: string, model: Model): void
}

export interface Learned extends Rule {
  /** Resolves when no model is being made. */
  settled(): Promise<void>
  /** After the rows that are remembered were learned: a model of other code than theirs is of no use. */
  restore(codeHash: string, model: Model): void
}

interface Row {
  reading: Reading
  log: number
  regime: number
}

/** While costs stay the same. */
interface Regime {
  number: number
  rows: number
  /** The model of the one before, and how far off it is now. */
  before?: Current
}

interface Current {
  model: Model
  predict: (reading: Reading) => Prediction
  correction: Correction
}

/** A model is made anew when at least so many more rows came. */
const [leastRows, fewRows] = [5, 3]
/** Of so many misses in a row these many are to the same side, and far: costs have changed. */
const [watched, sameSide, farOff] = [24, 20, 0.5]
/** Rows of what was before are of no more use when there are so many new ones. */
const enoughNew = 60

export function learned({
  fitter,
  posts = 256,
  rows: most = 1000,
  growth = 0.25,
  made,
}: LearnedOptions): Learned {
  const rows: Row[] = []
  let code: string | undefined
  let regime: Regime = { number: 0, rows: 0 }
  let nextFit = leastRows
  let fitting: Promise<void> | undefined
  let current: Current | undefined
  let offs: number[] = []

  function use(model: Model, freedom = settled): Current {
    const correction = new Correction(model.encoding.numbers.length, freedom)
    current = { model, predict: predictor(model), correction }
    offs = []
    return current
  }

  /** What was learned before the last `newer` rows may not be true any more. */
  function change(newer: number): void {
    // What was before the one before is no longer of use.
    const kept = rows.filter((row) => row.regime === regime.number)
    rows.splice(0, rows.length, ...kept)
    const before = current && use(current.model, unsettled)
    regime = { number: regime.number + 1, rows: 0, ...(before && { before }) }
    nextFit = leastRows
    for (const row of rows.slice(rows.length - newer)) belong(row)
  }

  function belong(row: Row): void {
    row.regime = regime.number
    regime.rows++
    const { before } = regime
    if (before && regime.rows <= enoughNew) correct(before, row)
  }

  /** Returns how far off it was, in units of how far that could be expected. */
  function correct({ predict, correction }: Current, { reading, log }: Row): number {
    const { request, log: predicted, below, above } = predict(reading)
    const miss = log - predicted
    const off = miss - correction.of(request)
    correction.learn(request, miss, (below + above) / 3.3)
    return off / (off < 0 ? below : above)
  }

  /** So many in a row that are far off, and to the same side, are no chance. */
  function watch(off: number): void {
    offs.push(off)
    if (offs.length > watched) offs.shift()
    const far = [1, -1].some((side) => offs.filter((off) => off * side > farOff).length >= sameSide)
    if (far) change(offs.length - 1)
  }

  function fitRows(): FitRow[] {
    if (regime.rows >= enoughNew) return rows.filter((row) => row.regime === regime.number).map(asItIs)
    const { before } = regime
    return rows.map((row) => {
      if (row.regime === regime.number) return asItIs(row)
      // As it would be today, as far as the correction knows.
      const moved = before ? before.correction.of(before.predict(row.reading).request) : 0
      return { reading: row.reading, log: row.log + moved, doubt: 1 + regime.rows }
    })
  }

  function fitIfDue(): void {
    if (fitting || regime.rows < nextFit) return
    // Not at once: of many rows that come together, all are to be seen.
    fitting = Promise.resolve()
      .then(fit)
      .then(() => {
        fitting = undefined
        fitIfDue()
      })
  }

  async function fit(): Promise<void> {
    if (regime.rows < nextFit) return
    const before = current && beforeOf(current.model, current === regime.before)
    let number = -1
    const collect = () => {
      number = regime.number
      nextFit = after(regime.rows, growth)
      return fitRows()
    }
    const model = await fitter.fit(regime.rows, collect, { posts, ...(before && { before }) })
    // A fitter that is closed asks for no rows; it is not asked again at once.
    if (number < 0) nextFit = after(regime.rows, growth)
    if (!model || number !== regime.number) return
    use(model)
    made?.(code ?? '', model)
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
      if (code !== undefined && code !== question.codeHash) change(0)
      code = question.codeHash
      const row = { reading, log, regime: regime.number }
      // The model of the regime before is corrected as the row comes to belong.
      if (current && current !== regime.before) watch(correct(current, row))
      rows.push(row)
      if (rows.length > most) rows.shift()
      belong(row)
      fitIfDue()
    },
    async settled() {
      while (fitting) await fitting
    },
    restore(codeHash, model) {
      if (code !== undefined && code !== codeHash) return
      code = codeHash
      use(model)
      nextFit = after(model.rows, growth)
    },
  }
}

/** How many rows the next model is made of. */
function after(rows: number, growth: number): number {
  return Math.max(rows + fewRows, Math.ceil(rows * (1 + growth)))
}

/** Of costs that have changed since, it is only where a search begins. */
function beforeOf(model: Model, isOutdated: boolean): NonNullable<FitOptions['before']> {
  const { family, shape, soughtOn } = model
  return {
    ...{ family, settings: shape.settings, width: widthOf(model) },
    soughtOn: isOutdated ? 0 : soughtOn,
  }
}

function asItIs({ reading, log }: Row): FitRow {
  return { reading, log, doubt: 1 }
}
