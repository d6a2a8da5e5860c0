/**
 * Features that predict cost: those declared by the workload, else derived from parameters and body. Clients choose
 * parameters, so everything here is bounded.
 */

import { inspect } from 'node:util'
import type { Features } from '../model/estimate.ts'
import type { BodyFacts, Workload } from '../workload/workload.ts'
import { pictureSize } from './picture-size.ts'
import { mostFeatures, mostLetters, numberText } from './reading.ts'

/** Deepest level of nested parameters that yields features. */
const deepest = 4
/** Longer lists are sampled at this many evenly spaced elements. */
const mostElements = 1024

/** Falls back to automatic features if the workload's are invalid, and passes the cause to `onInvalid`. */
export function featuresOf(
  workload: Pick<Workload, 'features'>,
  params: unknown,
  body: BodyFacts,
  onInvalid?: (why: string) => void,
): Features {
  if (!workload.features) return automatic(params, body)
  try {
    return checked(workload.features(params, body))
  } catch (error) {
    onInvalid?.(error instanceof Error ? error.message : `features() threw ${inspect(error)}`)
    return automatic(params, body)
  }
}

/** A copy of the usable features; throws if a value has an invalid type. */
function checked(given: unknown): Features {
  const prototype = typeof given === 'object' && given !== null ? Object.getPrototypeOf(given) : undefined
  if (prototype !== Object.prototype && prototype !== null) {
    throw new TypeError('features() must return a plain object')
  }
  const features: Features = {}
  let count = 0
  for (const [name, value] of Object.entries(given as object)) {
    if (typeof value !== 'number' && typeof value !== 'string' && typeof value !== 'boolean') {
      throw new TypeError(
        `features() returned ${name} = ${typeof value}: must be a number, a string or a boolean`,
      )
    }
    if (name.length > mostLetters || (typeof value === 'number' && !Number.isFinite(value))) continue
    if (++count > mostFeatures) break
    // A long string cannot be a category, so its length is used.
    features[name] = typeof value === 'string' && value.length > mostLetters ? value.length : value
  }
  return features
}

function automatic(params: unknown, body: BodyFacts): Features {
  const found = new FeatureCollector()
  if (body.bytes > 0) addBody(found, body)
  if (typeof params === 'object' && params !== null && !isList(params)) addFields(found, '', params, 1)
  else add(found, 'params', params, 1)
  return found.features
}

/** Collects at most `mostFeatures` features. */
class FeatureCollector {
  readonly features: Features = {}
  #count = 0

  get isFull(): boolean {
    return this.#count >= mostFeatures
  }

  put(name: string, value: number | string | boolean): void {
    if (this.isFull || name.length > mostLetters) return
    if (typeof value === 'number' && !Number.isFinite(value)) return
    this.#count++
    this.features[name] = value
  }
}

function addBody(found: FeatureCollector, { bytes, head }: BodyFacts): void {
  found.put('body.bytes', bytes)
  const size = pictureSize(head)
  if (!size) return
  found.put('body.width', size.width)
  found.put('body.height', size.height)
  found.put('body.pixels', size.width * size.height)
}

function addFields(found: FeatureCollector, prefix: string, object: object, depth: number): void {
  for (const name of Object.keys(object)) {
    if (found.isFull) return
    add(found, prefix + name, (object as Record<string, unknown>)[name], depth)
  }
}

function add(found: FeatureCollector, name: string, value: unknown, depth: number): void {
  if (typeof value === 'number' || typeof value === 'boolean') found.put(name, value)
  else if (typeof value === 'bigint') found.put(name, Number(value))
  else if (typeof value === 'string') addText(found, name, value)
  else if (typeof value !== 'object' || value === null) return
  else if (isList(value)) addList(found, name, value)
  else if (value instanceof Date) found.put(name, value.getTime())
  else if (depth < deepest) addFields(found, `${name}.`, value, depth + 1)
}

/** A long string cannot be a category, so only its length is used. */
function addText(found: FeatureCollector, name: string, text: string): void {
  if (text.length <= mostLetters) found.put(name, text)
  if (text.length > mostLetters || !numberText.test(text)) found.put(`${name}.length`, text.length)
}

function isList(value: object): value is ArrayLike<unknown> {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView))
}

/** Sum and maximum of numbers, or of the lengths of strings and arrays. */
function addList(found: FeatureCollector, name: string, list: ArrayLike<unknown>): void {
  found.put(`${name}.length`, list.length)
  const step = Math.ceil(list.length / mostElements)
  let count = 0
  let sum = 0
  let max = -Infinity
  for (let i = 0; i < list.length; i += step) {
    const size = sizeOf(list[i])
    if (!Number.isFinite(size)) return
    count++
    sum += size
    if (size > max) max = size
  }
  if (count === 0) return
  found.put(`${name}.sum`, (sum / count) * list.length)
  found.put(`${name}.max`, max)
}

function sizeOf(element: unknown): number {
  if (typeof element === 'number') return element
  return typeof element === 'string' || Array.isArray(element) ? element.length : Number.NaN
}
