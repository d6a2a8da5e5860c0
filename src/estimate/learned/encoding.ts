/** Encodes features for a model: scaled numbers, and codes of categories. */

import type { Reading } from '../reading.ts'

/** Transformation of a number: `log` if all values are positive, `log1p` if some are 0, `raw` if some are negative. */
export type Look = 'log' | 'log1p' | 'raw'

export interface Encoding {
  /** `deviation` is not 0. */
  numbers: { name: string; look: Look; mean: number; deviation: number }[]
  categories: { name: string; levels: string[] }[]
  /** Numbers that were the same in all requests: what another value would change is unknown. */
  constants?: { name: string; value: number }[]
}

export interface Encoded {
  numbers: Float64Array
  /** The level of each category; -1 if unknown. */
  levels: Int32Array
}

/** Further features are ignored. */
const mostNumbers = 16
const mostCategories = 12
/** A string with more distinct values is not a category. */
const mostLevels = 64

/** Derives an encoding from requests; leaves out features that are the same in all of them. */
export function encodingOf(readings: readonly Reading[]): Encoding {
  const values = new Map<string, number[]>()
  const texts = new Map<string, Map<string, number>>()
  for (const { numbers, categories } of readings) {
    for (const [name, value] of numbers) append(values, name, value)
    for (const [name, text] of categories) {
      const levels = texts.get(name) ?? new Map<string, number>()
      levels.set(text, (levels.get(text) ?? 0) + 1)
      texts.set(name, levels)
    }
  }
  const numbers = [...values].flatMap(([name, all]) => scaleOf(name, all)).slice(0, mostNumbers)
  const categories = [...texts]
    .filter(([, levels]) => levels.size > 1 && levels.size <= Math.min(mostLevels, readings.length / 2))
    .slice(0, mostCategories)
    .map(([name, levels]) => ({ name, levels: [...levels.keys()] }))
  const constants = [...values]
    .filter(([, all]) => all.every((value) => value === all[0]))
    .slice(0, mostNumbers)
    .map(([name, all]) => ({ name, value: all[0]! }))
  return { numbers, categories, ...(constants.length > 0 && { constants }) }
}

export function encode(encoding: Encoding, { numbers, categories }: Reading): Encoded {
  const out = {
    numbers: new Float64Array(encoding.numbers.length),
    levels: new Int32Array(encoding.categories.length),
  }
  for (let i = 0; i < encoding.numbers.length; i++) {
    const { name, look, mean, deviation } = encoding.numbers[i]!
    const value = numbers.get(name)
    // A missing number is assumed to be average.
    const scaled = value === undefined ? 0 : (transform(look, value) - mean) / deviation
    out.numbers[i] = Math.min(farthest, Math.max(-farthest, scaled))
  }
  for (let i = 0; i < encoding.categories.length; i++) {
    const { name, levels } = encoding.categories[i]!
    const text = categories.get(name)
    out.levels[i] = text === undefined ? -1 : levels.indexOf(text)
  }
  return out
}

/** Numbers are clipped at this many standard deviations. */
const farthest = 1e3

function transform(look: Look, value: number): number {
  if (look === 'log') return Math.log(Math.max(value, Number.MIN_VALUE))
  return look === 'log1p' ? Math.log1p(Math.max(value, 0)) : value
}

function scaleOf(name: string, values: readonly number[]): Encoding['numbers'] {
  const least = values.reduce((a, b) => Math.min(a, b))
  const look: Look = least > 0 ? 'log' : least === 0 ? 'log1p' : 'raw'
  let mean = 0
  for (const value of values) mean += transform(look, value) / values.length
  let squares = 0
  for (const value of values) squares += (transform(look, value) - mean) ** 2 / values.length
  const deviation = Math.sqrt(squares)
  return deviation > 1e-9 * Math.max(1, Math.abs(mean)) && Number.isFinite(deviation)
    ? [{ name, look, mean, deviation }]
    : []
}

function append(map: Map<string, number[]>, name: string, value: number): void {
  const list = map.get(name)
  if (list) list.push(value)
  else map.set(name, [value])
}
