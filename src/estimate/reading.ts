/**
 * Splits features into numbers and categories, and derives a size. Names and strings may come from a client, so both
 * are bounded.
 */

import type { Features } from '../model/estimate.ts'
import type { Question } from './estimator.ts'

export interface Reading {
  /** All finite. A long string is represented by its length, a numeric string by its number. */
  numbers: Map<string, number>
  categories: Map<string, string>
}

/** Further features are ignored. */
export const mostFeatures = 64
/** Longer names are ignored; longer strings are not categories. */
export const mostLetters = 64
/** The square of a size must be finite. */
const largestSize = 1e150

export const numberText = /^-?\d+(\.\d+)?$/

export function read(features: Features): Reading {
  const numbers = new Map<string, number>()
  const categories = new Map<string, string>()
  let count = 0
  for (const name in features) {
    if (name.length > mostLetters) continue
    if (++count > mostFeatures) break
    const value: unknown = features[name]
    if (typeof value === 'number') {
      if (Number.isFinite(value)) numbers.set(name, value)
    } else if (typeof value === 'boolean') categories.set(name, String(value))
    else if (typeof value !== 'string') continue
    else if (value.length > mostLetters) numbers.set(name, value.length)
    else if (numberText.test(value)) numbers.set(name, Number(value))
    else categories.set(name, value)
  }
  return { numbers, categories }
}

/**
 * A single number for the size of a request, for published rules that need one and workloads they do not define. The
 * largest number computed by the workload (a feature that is not a parameter), since such numbers usually include
 * each other; else the product of all positive integer parameters; else the largest positive number. Undefined if the
 * request has no positive number.
 */
export function sizeOf({ params }: Question, { numbers, categories }: Reading): number | undefined {
  let largest = 0
  let computed = 0
  let product = 0
  for (const [name, value] of numbers) {
    // The length of a category's name is unrelated to size.
    if (value <= 0 || (name.endsWith('.length') && categories.has(name.slice(0, -'.length'.length)))) continue
    largest = Math.max(largest, value)
    if (!isParameter(params, name)) computed = Math.max(computed, value)
    else if (Number.isInteger(value)) product = (product || 1) * value
  }
  const size = computed || product || largest
  return size > 0 ? Math.min(size, largestSize) : undefined
}

/** A parameter that is a number or a numeric string. */
export function numberIn(params: unknown, name: string): number | undefined {
  const value = isParameter(params, name) ? (params as Record<string, unknown>)[name] : undefined
  const number = typeof value === 'string' && numberText.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

function isParameter(params: unknown, name: string): boolean {
  return typeof params === 'object' && params !== null && Object.hasOwn(params, name)
}
