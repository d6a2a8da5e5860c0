/**
 * The default rule: a model of costs, refitted in the background as measurements arrive, and a correction that follows
 * each measurement. After a change of code or costs, learning starts from the previous model.
 */

import type { Guess, Question, Rule } from './estimator.ts'
import { guessOf, isUsable } from './guess.ts'
import { Correction, settled, unsettled } from './learned/correction.ts'
import type { FitRow } from './learned/data.ts'
import { type FitOptions, type Model, widthOf } from './learned/fit.ts'
import type { Fitter } from './learned/fitter.ts'
import { type Prediction, predictor } from './learned/predict.ts'
import { type Reading, read } from './reading.ts'

export interface LearnedOptions {
  fitter: Fitter
  /** Largest number of inducing points; more make predictions slower. Default 256. */
  posts?: number
  /** Number of recent rows that a model is fitted to. Default 1,000. */
  rows?: number
  /** A model is refitted when the number of rows has grown by this share. Default 0.25. */
  growth?: number
  /** Called with each new model, so that it can be saved. */
  made?(codeHash: string, model: Model): void
}

export interface Learned extends Rule {
  /** Resolves when no fit is under way. */
  settled(): Promise<void>
  /** Call after learning the remembered rows: a model of other code than theirs is ignored. */
  restore(codeHash: string, model: Model): void
  /** Call before anything is learned: starts from a model that came with the workload. */
  start(codeHash: string, model: Model): void
}

interface Row {
  reading: Reading
  log: number
  regime: number
}

/** A period during which costs do not change. */
interface Regime {
  number: number
  rows: number
  /** The previous regime's model, with a correction towards the current costs. */
  before?: Current
}

interface Current {
  model: Model
  predict: (reading: Reading) => Prediction
  correction: Correction
}

/** Rows of the first fit, and least number of new rows before another. */
const [leastRows, leastNewRows] = [5, 3]
/** Costs have changed if 20 of the last 24 errors exceed half a spread on the same side. */
const [watched, sameSide, farOff] = [24, 20, 0.5]
/** A model that came with the workload is replaced when there are this many measurements for each of its rows. */
const ownShare = 0.5
/** With this many rows in the current regime, rows of the previous one are no longer used. */
const enoughNew = 60

export function learned(options: LearnedOptions): Learned {
  return new LearnedRule(options)
}

class LearnedRule implements Learned {
  readonly #options: Required<Omit<LearnedOptions, 'made'>> & Pick<LearnedOptions, 'made'>
  readonly #rows: Row[] = []
  #code: string | undefined
  #regime: Regime = { number: 0, rows: 0 }
  #nextFit = leastRows
  #fitting: Promise<void> | undefined
  #current: Current | undefined
  #recentErrors: number[] = []

  constructor(options: LearnedOptions) {
    this.#options = { posts: 256, rows: 1000, growth: 0.25, ...options }
  }

  guess(question: Question): Guess | undefined {
    const current = this.#current
    if (!current) return undefined
    const { log, below, above, unchecked, nearest, request } = current.predict(read(question.features))
    const { family, rows } = current.model
    const value = Math.exp(log + current.correction.of(request))
    const reason = { code: 'learned', family, rows, likeness: Math.round(nearest * 100) / 100 }
    const guess = guessOf(value, 'model', reason)
    const isOutdated = current === this.#regime.before || question.codeHash !== this.#code
    const carriedOver = isOutdated && { carriedOver: true as const }
    return (
      guess && { ...guess, spread: { below, above }, ...(unchecked > 0 && { unchecked }), ...carriedOver }
    )
  }

  learn(question: Question, value: number): void {
    if (!isUsable(value)) return
    const reading = read(question.features)
    const log = Math.log(value)
    if (this.#code !== undefined && this.#code !== question.codeHash) this.#startRegime(0)
    this.#code = question.codeHash
    const row = { reading, log, regime: this.#regime.number }
    // The previous regime's model is corrected when the row is added to the regime.
    if (this.#current && this.#current !== this.#regime.before)
      this.#detectChange(correct(this.#current, row))
    this.#rows.push(row)
    if (this.#rows.length > this.#options.rows) this.#rows.shift()
    this.#addToRegime(row)
    this.#fitIfDue()
  }

  async settled(): Promise<void> {
    while (this.#fitting) await this.#fitting
  }

  restore(codeHash: string, model: Model): void {
    if (this.#code !== undefined && this.#code !== codeHash) return
    this.#code = codeHash
    this.#use(model)
    this.#nextFit = rowsOfNextFit(model.rows, this.#options.growth)
  }

  start(codeHash: string, model: Model): void {
    this.#code = codeHash
    this.#use(model)
    // The model's rows are unknown here, so the first fit waits for enough measurements to replace them.
    this.#nextFit = Math.ceil(model.rows * ownShare)
  }

  #use(model: Model, freedom = settled): Current {
    const correction = new Correction(model.encoding.numbers.length, freedom)
    this.#current = { model, predict: predictor(model), correction }
    this.#recentErrors = []
    return this.#current
  }

  /** Starts a regime with the last `newer` rows; older rows may no longer be true. */
  #startRegime(newer: number): void {
    const rows = this.#rows
    const kept = rows.filter((row) => row.regime === this.#regime.number)
    rows.splice(0, rows.length, ...kept)
    const before = this.#current && this.#use(this.#current.model, unsettled)
    this.#regime = { number: this.#regime.number + 1, rows: 0, ...(before && { before }) }
    this.#nextFit = leastRows
    for (const row of rows.slice(rows.length - newer)) this.#addToRegime(row)
  }

  #addToRegime(row: Row): void {
    const regime = this.#regime
    row.regime = regime.number
    regime.rows++
    if (regime.before && regime.rows <= enoughNew) correct(regime.before, row)
  }

  #detectChange(error: number): void {
    const errors = this.#recentErrors
    errors.push(error)
    if (errors.length > watched) errors.shift()
    const changed = [1, -1].some((side) => errors.filter((each) => each * side > farOff).length >= sameSide)
    if (changed) this.#startRegime(errors.length - 1)
  }

  #fitRows(): FitRow[] {
    const { number, rows: count, before } = this.#regime
    if (count >= enoughNew) return this.#rows.filter((row) => row.regime === number).map(undoubted)
    return this.#rows.map((row) => {
      if (row.regime === number) return undoubted(row)
      // Moved to the current costs, as far as the correction knows them.
      const moved = before ? before.correction.of(before.predict(row.reading).request) : 0
      return { reading: row.reading, log: row.log + moved, doubt: 1 + count }
    })
  }

  #fitIfDue(): void {
    if (this.#fitting || this.#regime.rows < this.#nextFit) return
    // Deferred, so that a fit sees all rows learned in the same turn.
    this.#fitting = Promise.resolve()
      .then(() => this.#fit())
      .then(() => {
        this.#fitting = undefined
        this.#fitIfDue()
      })
  }

  async #fit(): Promise<void> {
    if (this.#regime.rows < this.#nextFit) return
    const { fitter, posts, growth, made } = this.#options
    const before = this.#current && previousSearch(this.#current.model, this.#current === this.#regime.before)
    let number = -1
    const collect = () => {
      number = this.#regime.number
      this.#nextFit = rowsOfNextFit(this.#regime.rows, growth)
      return this.#fitRows()
    }
    const model = await fitter.fit(this.#regime.rows, collect, { posts, ...(before && { before }) })
    // A closed fitter does not collect rows; it must not be asked again at once.
    if (number < 0) this.#nextFit = rowsOfNextFit(this.#regime.rows, growth)
    if (!model || number !== this.#regime.number) return
    this.#use(model)
    made?.(this.#code ?? '', model)
  }
}

/** Returns the error in units of the predicted spread. */
function correct({ predict, correction }: Current, { reading, log }: Row): number {
  const { request, log: predicted, below, above } = predict(reading)
  const miss = log - predicted
  const off = miss - correction.of(request)
  correction.learn(request, miss, (below + above) / 3.3)
  return off / (off < 0 ? below : above)
}

function rowsOfNextFit(rows: number, growth: number): number {
  return Math.max(rows + leastNewRows, Math.ceil(rows * (1 + growth)))
}

/** An outdated model serves only as the starting point of a search. */
function previousSearch(model: Model, isOutdated: boolean): NonNullable<FitOptions['before']> {
  const { family, shape, soughtOn } = model
  return {
    ...{ family, settings: shape.settings, width: widthOf(model) },
    soughtOn: isOutdated ? 0 : soughtOn,
  }
}

function undoubted({ reading, log }: Row): FitRow {
  return { reading, log, doubt: 1 }
}
