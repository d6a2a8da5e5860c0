/**
 * What rules see in a request of any workload: its numbers, its categories and its size. Strings and names of
 * features may come from a client, so what is kept of them is bounded.
 */

import type { Features } from '../model/estimate.ts'
import type { Question } from './estimator.ts'

export interface Reading {
  /** All finite. A longer text counts by its length; the text of a number is that number. */
  numbers: Map<string, number>
  categories: Map<string, string>
}

/** Of more, the first. */
export const mostFeatures = 64
/** A name that is longer is not looked at; a text that is longer is no category. */
export const mostLetters = 64
/** Squared, it is still a number. */
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
 * The one number for how large a request is, where a rule of the documents names one and the workload is none of
 * theirs: the largest number that the workload computed (a feature that is not just a parameter), because such
 * numbers contain each other; without one, the product of the parameters that are whole numbers from 1 on.
 * Without those, the largest number above 0. Undefined: it has no number.
 */
export function sizeOf({ params }: Question, { numbers, categories }: Reading): number | undefined {
  let largest = 0
  let computed = 0
  let product = 0
  for (const [name, value] of numbers) {
    // The length of a category's name says nothing about size.
    if (value <= 0 || (name.endsWith('.length') && categories.has(name.slice(0, -'.length'.length)))) continue
    largest = Math.max(largest, value)
    if (!isParameter(params, name)) computed = Math.max(computed, value)
    else if (Number.isInteger(value)) product = (product || 1) * value
  }
  const size = computed || product || largest
  return size > 0 ? Math.min(size, largestSize) : undefined
}

/** A parameter that is a number, or the text of one. */
export function numberIn(params: unknown, name: string): number | undefined {
  const value = isParameter(params, name) ? (params as Record<string, unknown>)[name] : undefined
  const number = typeof value === 'string' && numberText.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

function isParameter(params: unknown, name: string): boolean {
  return typeof params === 'object' && params !== null && Object.hasOwn(params, name)
}
