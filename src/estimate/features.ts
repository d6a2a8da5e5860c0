/**
 * What a prediction of cost may look at: the features that the workload names, else what its parameters and its
 * body show by themselves. Clients choose parameters, so all of it is bounded.
 */

import { inspect } from 'node:util'
import type { Features } from '../model/estimate.ts'
import type { BodyFacts, Workload } from '../workload/workload.ts'
import { pictureSize } from './picture-size.ts'
import { mostFeatures, mostLetters, numberText } from './reading.ts'

/** Parameters inside parameters are looked at so far down. */
const deepest = 4
/** Of a longer list some elements are looked at, evenly spread. */
const mostElements = 1024

/** `wrong` hears what is the matter with the workload's own features, if anything; then the automatic ones do. */
export function featuresOf(
  workload: Pick<Workload, 'features'>,
  params: unknown,
  body: BodyFacts,
  wrong?: (why: string) => void,
): Features {
  if (!workload.features) return automatic(params, body)
  try {
    return checked(workload.features(params, body))
  } catch (error) {
    wrong?.(error instanceof Error ? error.message : `it threw ${inspect(error)}`)
    return automatic(params, body)
  }
}

/** A copy of what can be used; throws if it is nothing that features can be. */
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
        `features() gave ${name} = ${typeof value}: must be a number, a string or a boolean`,
      )
    }
    if (name.length > mostLetters || (typeof value === 'number' && !Number.isFinite(value))) continue
    if (++count > mostFeatures) break
    // A longer text can be no category: as everywhere, it counts by its length.
    features[name] = typeof value === 'string' && value.length > mostLetters ? value.length : value
  }
  return features
}

function automatic(params: unknown, body: BodyFacts): Features {
  const found = new Found()
  if (body.bytes > 0) addBody(found, body)
  if (typeof params === 'object' && params !== null && !isList(params)) addFields(found, '', params, 1)
  else add(found, 'params', params, 1)
  return found.features
}

/** Takes features until there are enough. */
class Found {
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

function addBody(found: Found, { bytes, head }: BodyFacts): void {
  found.put('body.bytes', bytes)
  const size = pictureSize(head)
  if (!size) return
  found.put('body.width', size.width)
  found.put('body.height', size.height)
  found.put('body.pixels', size.width * size.height)
}

function addFields(found: Found, prefix: string, object: object, depth: number): void {
  for (const name of Object.keys(object)) {
    if (found.isFull) return
    add(found, prefix + name, (object as Record<string, unknown>)[name], depth)
  }
}

function add(found: Found, name: string, value: unknown, depth: number): void {
  if (typeof value === 'number' || typeof value === 'boolean') found.put(name, value)
  else if (typeof value === 'bigint') found.put(name, Number(value))
  else if (typeof value === 'string') addText(found, name, value)
  else if (typeof value !== 'object' || value === null) return
  else if (isList(value)) addList(found, name, value)
  else if (value instanceof Date) found.put(name, value.getTime())
  else if (depth < deepest) addFields(found, `${name}.`, value, depth + 1)
}

/** A longer text can be no category: of it only the length counts. */
function addText(found: Found, name: string, text: string): void {
  if (text.length <= mostLetters) found.put(name, text)
  if (text.length > mostLetters || !numberText.test(text)) found.put(`${name}.length`, text.length)
}

function isList(value: object): value is ArrayLike<unknown> {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView))
}

/** Sum and largest of numbers, or of the lengths of texts and arrays. */
function addList(found: Found, name: string, list: ArrayLike<unknown>): void {
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
