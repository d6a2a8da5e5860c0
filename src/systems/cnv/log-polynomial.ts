/** CNV's estimate: the same request, else a polynomial of the logarithms of its numbers, else the mean so far. */

import { chain } from '../../estimate/chain.ts'
import { factor, solve } from '../../estimate/cholesky.ts'
import { constant } from '../../estimate/constant.ts'
import type { Rule } from '../../estimate/estimator.ts'
import { guessOf, isUsable } from '../../estimate/guess.ts'
import { memo } from '../../estimate/memo.ts'
import { type Reading, read } from '../../estimate/reading.ts'
import { type Columns, Vocabulary } from './log-columns.ts'

export interface LogPolynomialOptions {
  /** A model is fitted to this many of the newest rows. */
  rows?: number
  /** The number of requests remembered exactly. */
  keys?: number
}

interface Row {
  reading: Reading
  log: number
}

interface Model {
  degree: number
  rows: number
  columns: Columns
  weights: Float64Array
  spread: number
  /** Bounds of a guess. */
  lowest: number
  highest: number
}

/** A model is rebuilt when its rows have grown by this share, and by at least a handful. */
const growth = 0.1
const handful = 5
/** With fewer rows per column a model would overfit. */
const rowsPerColumn = 1.25
/** Ridge regularisation, in rows. */
const ridge = 0.01
/** A polynomial diverges outside the observed range, so that guesses stay within this factor of it. */
const farthest = Math.log(1000)

export function logPolynomial({ rows = 2000, keys }: LogPolynomialOptions = {}): Rule {
  return chain(memo({ keys }), polynomial(rows), constant())
}

export function polynomial(most: number): Rule {
  const rows: Row[] = []
  let learned = 0
  let built = { at: 0, rows: 0 }
  let model: Model | undefined
  let asked = new Float64Array()
  return {
    guess(question) {
      // Built on demand, so that a start from many rows builds one model, not hundreds.
      if (learned - built.at >= Math.max(handful, growth * built.rows)) {
        built = { at: learned, rows: rows.length }
        model = build(rows) ?? model
        asked = new Float64Array(model?.columns.count ?? 0)
      }
      if (!model) return undefined
      model.columns.fill(read(question.features), asked, 0)
      const log = Math.min(Math.max(dot(model.weights, asked, 0), model.lowest), model.highest)
      const { degree, rows: basis, spread } = model
      return guessOf(Math.exp(log), 'model', { code: 'log-polynomial', degree, rows: basis }, spread)
    },
    learn({ features }, value) {
      if (isUsable(value)) rows[learned++ % most] = { reading: read(features), log: Math.log(value) }
    },
  }
}

/** Of the highest degree with enough rows; undefined: none. */
function build(rows: readonly Row[]): Model | undefined {
  const vocabulary = new Vocabulary(rows.map(({ reading }) => reading))
  for (const degree of [2, 1] as const) {
    const columns = vocabulary.columns(degree)
    if (rows.length < Math.max(handful, rowsPerColumn * columns.count)) continue
    return fit(rows, columns, degree)
  }
  return undefined
}

function fit(rows: readonly Row[], columns: Columns, degree: number): Model | undefined {
  const n = columns.count
  const filled = new Float64Array(rows.length * n)
  const squares = new Float64Array(n * n)
  const weights = new Float64Array(n)
  let lowest = Number.POSITIVE_INFINITY
  let highest = Number.NEGATIVE_INFINITY
  for (const [index, { reading, log }] of rows.entries()) {
    const at = index * n
    columns.fill(reading, filled, at)
    for (let i = 0; i < n; i++) {
      const value = filled[at + i]!
      if (value === 0) continue
      weights[i]! += value * log
      for (let j = 0; j <= i; j++) squares[i * n + j]! += value * filled[at + j]!
    }
    lowest = Math.min(lowest, log)
    highest = Math.max(highest, log)
  }
  for (let i = 0; i < n; i++) {
    // The first column is the intercept, which is not regularised.
    if (i > 0) squares[i * n + i]! += ridge
    for (let j = 0; j < i; j++) squares[j * n + i] = squares[i * n + j]!
  }
  if (factor(squares, n) === undefined) return undefined
  solve(squares, n, weights)
  let sum = 0
  for (const [index, { log }] of rows.entries()) sum += (log - dot(weights, filled, index * n)) ** 2
  const spread = Math.sqrt(sum / (rows.length - n))
  if (!Number.isFinite(spread)) return undefined
  const bounds = { lowest: lowest - farthest, highest: highest + farthest }
  return { degree, rows: rows.length, columns, weights, spread, ...bounds }
}

function dot(weights: Float64Array, values: Float64Array, at: number): number {
  let sum = 0
  for (let i = 0; i < weights.length; i++) sum += weights[i]! * values[at + i]!
  return sum
}
