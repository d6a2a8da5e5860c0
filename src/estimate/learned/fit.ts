/** Makes a model of what requests cost from measurements, of the family that does best on rows it has not seen. */

import { aroundOf } from './around.ts'
import { type Data, dataOf, evenly, type FitRow, pointsOf, some, wideOf } from './data.ts'
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
  /** Costs are looked at as (log - level) ÷ scale. */
  level: number
  scale: number
  weights: Float64Array
  /** By post: the 5th, 50th and 95th percentile of how far off requests like it were, in logs; last, of all. */
  around: Float64Array
  rows: number
  /** Its family and settings were sought on so many rows without doubt. */
  soughtOn: number
  /** By number of the encoding, the smallest and the largest seen; and of the logs. */
  seen: { least: number[]; most: number[]; lowest: number; highest: number }
}

export interface FitOptions {
  /** Most posts. */
  posts: number
  /** The model before: its family and settings will do for a while, and a search begins from them. */
  before?: Sought & { width: number }
}

/** What takes most of the time of a fit to find. */
interface Sought {
  family: FamilyName
  settings: Settings
  soughtOn: number
}

/** Rows that settings are sought on: the time grows with the cube. */
const tuningRows = 160
/** Rounds of a search; from settings that were sought before it is not far. */
const [farAway, nearby] = [40, 20]
/** What was sought on so many will do until there are so many times as many: a search is most of the time that a fit takes. */
const [soughtWell, soughtAgain] = [20, 2]
/** Unless the model would be so many times as far off as the one before. */
const wider = 1.3
/** With fewer, each row in turn is the one not seen. */
const leastToHoldOut = 40
/** Families are compared with fewer posts, because the time grows with their cube. */
const postsToCompare = 128
/** A model with fewer cannot be told from chance. */
const leastRows = 5
/** In scaled costs: nothing that depends on features is as far off from what is like it. */
const [absurd, disbelief] = [1.5, 1e6]
const [sceptical, postsToDoubt] = [0.3, 64]
/** So many times as far off as what is not doubted. */
const mostDoubted = 4
/** A parabola needs so many rows for each of its columns. */
const rowsPerColumn = 2

export function fitModel(rows: readonly FitRow[], options: FitOptions): Model | undefined {
  if (rows.length < leastRows) return undefined
  const encoding = encodingOf(rows.map(({ reading }) => reading))
  const data = believed(dataOf(rows, encoding))
  const sure = rows.filter(({ doubt }) => doubt === 1).length
  const { before } = options
  let isOff = false
  if (before && willDo(before, data, sure)) {
    const model = finish(before, encoding, data, options)
    if (model && widthOf(model) <= wider * before.width) return model
    isOff = true
  }
  return finish(seek(data, sure, options, isOff), encoding, data, options)
}

function seek(data: Data, sure: number, options: FitOptions, isFar: boolean): Sought {
  const settings = tuned(data, options.before?.settings, isFar)
  const names = families.filter((name) => isWorthATry(name, data))
  return { family: best(names, data, settings, options), settings, soughtOn: sure }
}

/** What was sought before is of the same features, and of rows enough. */
function willDo({ settings, soughtOn }: Sought, data: Data, sure: number): boolean {
  const isAlike = settings.length === rangesAt + wideOf(data) + data.heights.length
  return isAlike && soughtOn >= soughtWell && sure < soughtAgain * soughtOn
}

/** From the 5th to the 95th percentile of how far off it is, in logs. */
export function widthOf({ around }: Model): number {
  const [low, , high] = around.slice(-3)
  return high! - low!
}

/** Without what is absurd beside rows that are alike, for a model that takes most for noise and so is not misled. */
function believed(data: Data): Data {
  const settings = Float64Array.from(priorsOf(pointsOf(data, wideOf(data))), ({ mean }) => mean)
  settings[noiseAt] = Math.log(sceptical)
  const shape = shapeOf('surface', data, settings, postsToDoubt)
  const fit = fitWeights(shape, fill(shape, data.requests), data.values, data.doubts)
  if (!fit) return data
  const doubts = data.doubts.map((doubt, i) => (Math.abs(fit.misses[i]!) > absurd ? disbelief : doubt))
  return { ...data, doubts }
}

function tuned(data: Data, before: Settings | undefined, isFar: boolean): Settings {
  const sample = evenly(data, tuningRows)
  const points = pointsOf(sample, wideOf(data))
  const prior = Float64Array.from(priorsOf(points), ({ mean }) => mean)
  const isAlike = before?.length === prior.length
  const rounds = isAlike && !isFar ? nearby : farAway
  return tune(points, sample.values, sample.doubts, isAlike ? before : prior, rounds)
}

function isWorthATry(family: FamilyName, data: Data): boolean {
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
    posts: pointsOf(hasPosts ? evenly(data, posts) : { ...data, requests: [] }, wideOf(data)),
  }
}

function best(
  names: readonly FamilyName[],
  data: Data,
  settings: Settings,
  { posts }: FitOptions,
): FamilyName {
  const holdOut = data.requests.length >= leastToHoldOut
  const seen = holdOut ? some(data, (i) => i % 5 !== 4) : data
  const unseen = some(data, (i) => i % 5 === 4)
  let chosen: FamilyName = 'line'
  let least = Number.POSITIVE_INFINITY
  for (const name of names) {
    const shape = shapeOf(name, seen, settings, Math.min(posts, postsToCompare))
    const fit = fitted(shape, seen)
    if (!fit) continue
    const misses = holdOut ? missesOf(shape, fit, unseen) : [...fit.misses]
    const off = badness(misses.map((miss) => miss * data.scale))
    if (off < least) [chosen, least] = [name, off]
  }
  return chosen
}

/** Mean miss in logs; what is off by more than a factor of 4 is simply wrong. */
function badness(misses: readonly number[]): number {
  return misses.reduce((sum, miss) => sum + Math.min(Math.log(4), Math.abs(miss)), 0) / misses.length
}

function fill(shape: Shape, requests: readonly Encoded[]): Float64Array {
  const n = columnCount(shape)
  const columns = columnsOf(shape)
  const filled = new Float64Array(requests.length * n)
  for (const [i, request] of requests.entries()) columns(request, filled.subarray(i * n, (i + 1) * n))
  return filled
}

/** Twice: rows that are far off the first time are doubted the second time. */
function fitted(shape: Shape, data: Data): Fit | undefined {
  const filled = fill(shape, data.requests)
  const first = fitWeights(shape, filled, data.values, data.doubts)
  if (!first) return undefined
  return fitWeights(shape, filled, data.values, doubtsAfter(first, data.doubts)) ?? first
}

/** What was missed by far more than is usual is doubted. */
function doubtsAfter({ misses }: Fit, doubts: Float64Array): Float64Array {
  const sizes = misses.map(Math.abs).sort()
  const usual = Math.max(4 * sizes[sizes.length >> 1]!, 4e-3)
  return doubts.map((doubt, i) => {
    const times = Math.abs(misses[i]!) / usual
    return doubt * (times <= 1 ? 1 : times <= mostDoubted ? times : times ** 3)
  })
}

function missesOf(shape: Shape, { weights }: Fit, data: Data): number[] {
  const n = weights.length
  const filled = fill(shape, data.requests)
  return data.requests.map((_, i) => data.values[i]! - dot(weights, filled.subarray(i * n, (i + 1) * n)))
}

function finish(
  { family, settings, soughtOn }: Sought,
  encoding: Encoding,
  data: Data,
  options: FitOptions,
): Model | undefined {
  const shape = shapeOf(family, data, settings, options.posts)
  const fit = fitted(shape, data)
  if (!fit) return undefined
  // Posts without weight still tell what is near.
  const hung =
    shape.posts.count > 0
      ? shape
      : { ...shape, posts: shapeOf('surface', data, settings, options.posts).posts }
  const n = columnCount(hung)
  const weights = new Float64Array(n)
  weights.set(fit.weights)
  const misses = fit.misses.map((miss) => miss * data.scale)
  const filled = fill(hung, data.requests)
  const around = aroundOf(misses, filled, n, hung.posts.count)
  const { level, scale } = data
  return {
    family,
    encoding,
    shape: hung,
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
