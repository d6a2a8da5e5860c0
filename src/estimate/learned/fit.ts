/** Fits a model of costs to measurements, of the family that predicts held-out rows best. */

import { aroundOf } from './around.ts'
import { type Data, dataOf, type FitRow, filterRows, pointsOf, sampleRows, wideOf } from './data.ts'
import { type Encoded, type Encoding, encodingOf } from './encoding.ts'
import { noiseAt, priorsOf, rangesAt, type Settings } from './kernel.ts'
import { columnCount, columnsOf, dot, type Fit, fitWeights, type Shape } from './surface.ts'
import { tune } from './tune.ts'

export const families = ['line', 'parabola', 'surface', 'curved surface'] as const
export type FamilyName = (typeof families)[number]

export interface Model {
  family: FamilyName
  encoding: Encoding
  shape: Shape
  /** The model predicts (log - level) ÷ scale. */
  level: number
  scale: number
  weights: Float64Array
  /** The 5th, 50th and 95th percentile of errors near each inducing point, in logs; then those of all rows. */
  around: Float64Array
  rows: number
  /** Number of rows without doubt when family and settings were last searched. */
  soughtOn: number
  /** Smallest and largest value of each encoded number, and of the logs. */
  seen: { least: number[]; most: number[]; lowest: number; highest: number }
}

export interface FitOptions {
  /** Largest number of inducing points. */
  posts: number
  /** The previous model: its family and settings are reused for a while, and a new search starts from them. */
  before?: Search & { width: number }
}

/** The result of a search, which takes most of the time of a fit. */
interface Search {
  family: FamilyName
  settings: Settings
  soughtOn: number
}

/** Rows used to tune settings: the time grows with their cube. */
const tuningRows = 160
/** Rounds of tuning from the prior, and from earlier settings. */
const [roundsFromPrior, roundsFromEarlier] = [40, 20]
/** A search on at least 20 rows is reused until the number of rows has doubled. */
const [leastSearchRows, searchGrowth] = [20, 2]
/** A reused search is repeated if errors spread 1.3 times as wide as those of the previous model. */
const wider = 1.3
/** With fewer rows, families are compared by leave-one-out errors. */
const leastToHoldOut = 40
/** Families are compared with fewer inducing points: the time grows with their cube. */
const postsToCompare = 128
/** Fewer rows do not determine a model. */
const leastRows = 5
/** A row with a larger scaled error is an outlier, and its noise is multiplied by `outlierDoubt`. */
const [outlierError, outlierDoubt] = [1.5, 1e6]
/** Noise and inducing points of the model that detects outliers. */
const [outlierNoise, outlierPosts] = [0.3, 64]
/** Doubt grows linearly up to this multiple of the usual error, then with the cube. */
const linearDoubt = 4
/** Rows needed for each column of a parabola. */
const rowsPerColumn = 2

export function fitModel(rows: readonly FitRow[], options: FitOptions): Model | undefined {
  if (rows.length < leastRows) return undefined
  const encoding = encodingOf(rows.map(({ reading }) => reading))
  const data = discountOutliers(dataOf(rows, encoding))
  const sure = rows.filter(({ doubt }) => doubt === 1).length
  const { before } = options
  let failed = false
  if (before && isReusable(before, data, sure)) {
    const model = finish(before, encoding, data, options)
    if (model && widthOf(model) <= wider * before.width) return model
    failed = true
  }
  return finish(search(data, sure, options, failed), encoding, data, options)
}

function search(data: Data, sure: number, options: FitOptions, isFar: boolean): Search {
  const settings = tuned(data, options.before?.settings, isFar)
  const names = families.filter((name) => hasEnoughRows(name, data))
  return { family: best(names, data, settings, options), settings, soughtOn: sure }
}

/** True if the earlier search was on the same features and enough rows. */
function isReusable({ settings, soughtOn }: Search, data: Data, sure: number): boolean {
  const sameFeatures = settings.length === rangesAt + wideOf(data) + data.heights.length
  return sameFeatures && soughtOn >= leastSearchRows && sure < searchGrowth * soughtOn
}

/** Distance between the 5th and 95th percentile of the model's errors, in logs. */
export function widthOf({ around }: Model): number {
  const [low, , high] = around.slice(-3)
  return high! - low!
}

/** Discounts rows far from similar ones, judged by a model with high noise, which outliers cannot mislead. */
function discountOutliers(data: Data): Data {
  const settings = Float64Array.from(priorsOf(pointsOf(data, wideOf(data))), ({ mean }) => mean)
  settings[noiseAt] = Math.log(outlierNoise)
  const shape = shapeOf('surface', data, settings, outlierPosts)
  const fit = fitWeights(shape, fill(shape, data.requests), data.values, data.doubts)
  if (!fit) return data
  const doubts = data.doubts.map((doubt, i) =>
    Math.abs(fit.misses[i]!) > outlierError ? outlierDoubt : doubt,
  )
  return { ...data, doubts }
}

function tuned(data: Data, before: Settings | undefined, isFar: boolean): Settings {
  const sample = sampleRows(data, tuningRows)
  const points = pointsOf(sample, wideOf(data))
  const prior = Float64Array.from(priorsOf(points), ({ mean }) => mean)
  const sameFeatures = before?.length === prior.length
  const rounds = sameFeatures && !isFar ? roundsFromEarlier : roundsFromPrior
  return tune(points, sample.values, sample.doubts, sameFeatures ? before : prior, rounds)
}

function hasEnoughRows(family: FamilyName, data: Data): boolean {
  if (family === 'line' || family === 'surface') return true
  const shape = shapeOf('parabola', data, new Float64Array(), 0)
  return data.requests.length >= rowsPerColumn * columnCount(shape)
}

function shapeOf(family: FamilyName, data: Data, settings: Settings, posts: number): Shape {
  const hasPosts = family === 'surface' || family === 'curved surface'
  return {
    parabola: family === 'parabola' || family === 'curved surface',
    settings,
    heights: data.heights,
    posts: pointsOf(hasPosts ? sampleRows(data, posts) : { ...data, requests: [] }, wideOf(data)),
  }
}

function best(
  names: readonly FamilyName[],
  data: Data,
  settings: Settings,
  { posts }: FitOptions,
): FamilyName {
  const holdOut = data.requests.length >= leastToHoldOut
  const training = holdOut ? filterRows(data, (i) => i % 5 !== 4) : data
  const heldOut = filterRows(data, (i) => i % 5 === 4)
  let chosen: FamilyName = 'line'
  let least = Number.POSITIVE_INFINITY
  for (const name of names) {
    const shape = shapeOf(name, training, settings, Math.min(posts, postsToCompare))
    const fit = fitted(shape, training)
    if (!fit) continue
    const misses = holdOut ? missesOf(shape, fit, heldOut) : [...fit.misses]
    const off = meanError(misses.map((miss) => miss * data.scale))
    if (off < least) [chosen, least] = [name, off]
  }
  return chosen
}

/** Mean absolute error in logs, each clipped at a factor of 4. */
function meanError(misses: readonly number[]): number {
  return misses.reduce((sum, miss) => sum + Math.min(Math.log(4), Math.abs(miss)), 0) / misses.length
}

function fill(shape: Shape, requests: readonly Encoded[]): Float64Array {
  const n = columnCount(shape)
  const columns = columnsOf(shape)
  const filled = new Float64Array(requests.length * n)
  for (const [i, request] of requests.entries()) columns(request, filled.subarray(i * n, (i + 1) * n))
  return filled
}

/** Fits twice: rows with large errors in the first fit are doubted in the second. */
function fitted(shape: Shape, data: Data): Fit | undefined {
  const filled = fill(shape, data.requests)
  const first = fitWeights(shape, filled, data.values, data.doubts)
  if (!first) return undefined
  return fitWeights(shape, filled, data.values, doubtsAfter(first, data.doubts)) ?? first
}

/** Increases the doubt of rows whose error is far above the median. */
function doubtsAfter({ misses }: Fit, doubts: Float64Array): Float64Array {
  const sizes = misses.map(Math.abs).sort()
  const usual = Math.max(4 * sizes[sizes.length >> 1]!, 4e-3)
  return doubts.map((doubt, i) => {
    const times = Math.abs(misses[i]!) / usual
    return doubt * (times <= 1 ? 1 : times <= linearDoubt ? times : times ** 3)
  })
}

function missesOf(shape: Shape, { weights }: Fit, data: Data): number[] {
  const n = weights.length
  const filled = fill(shape, data.requests)
  return data.requests.map((_, i) => data.values[i]! - dot(weights, filled.subarray(i * n, (i + 1) * n)))
}

function finish(
  { family, settings, soughtOn }: Search,
  encoding: Encoding,
  data: Data,
  options: FitOptions,
): Model | undefined {
  const shape = shapeOf(family, data, settings, options.posts)
  const fit = fitted(shape, data)
  if (!fit) return undefined
  // Families without a surface keep inducing points with weight 0, to measure similarity.
  const withPosts =
    shape.posts.count > 0
      ? shape
      : { ...shape, posts: shapeOf('surface', data, settings, options.posts).posts }
  const n = columnCount(withPosts)
  const weights = new Float64Array(n)
  weights.set(fit.weights)
  const misses = fit.misses.map((miss) => miss * data.scale)
  const filled = fill(withPosts, data.requests)
  const around = aroundOf(misses, filled, n, withPosts.posts.count)
  const { level, scale } = data
  return {
    family,
    encoding,
    shape: withPosts,
    level,
    scale,
    weights,
    around,
    rows: misses.length,
    soughtOn,
    seen: seenIn(data),
  }
}

function seenIn({ requests, values, level, scale }: Data): Model['seen'] {
  const columns = requests[0]!.numbers
  return {
    least: Array.from(columns, (_, d) =>
      requests.reduce((a, { numbers }) => Math.min(a, numbers[d]!), Infinity),
    ),
    most: Array.from(columns, (_, d) =>
      requests.reduce((a, { numbers }) => Math.max(a, numbers[d]!), -Infinity),
    ),
    lowest: level + scale * values.reduce((a, b) => Math.min(a, b)),
    highest: level + scale * values.reduce((a, b) => Math.max(a, b)),
  }
}
