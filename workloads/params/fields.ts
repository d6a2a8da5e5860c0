/**
 * Strict fields for parameters that arrive as strings in a query or as values in JSON: `z.coerce.number()` would accept
 * '' as 0 and true as 1.
 */

import { z } from 'zod'

interface Range {
  min: number
  max: number
}

/** An integer: 12 or '12'. */
export function whole({ min, max }: Range) {
  const error = expected(`a whole number from ${min} to ${max}`)
  const number = z.number({ error }).int({ error, abort: true }).min(min, { error, abort: true })
  return z.preprocess(numberIn(/^-?\d+$/), number.max(max, { error }))
}

/** A number with or without a fraction: 0.5, '0.5' or '5e-1'. */
export function real({ min, max }: Range) {
  const error = expected(`a number from ${min} to ${max}`)
  const number = z.number({ error }).min(min, { error, abort: true })
  return z.preprocess(numberIn(/^-?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i), number.max(max, { error }))
}

/** A non-blank string; surrounding white space is removed. */
export function text({ maxLength }: { maxLength: number }) {
  const error = expected(`text of 1 to ${maxLength} characters`)
  // A single refinement, because a length check would report an array a second time.
  return z
    .string({ error })
    .trim()
    .refine(({ length }) => length > 0 && length <= maxLength, { error })
    .meta({ minLength: 1, maxLength })
}

/** One of the given words. */
export function choice<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, { error: expected(`one of ${words.join(', ')}`) })
}

/** The parameters of a workload. Unknown names are rejected, so that a misspelt name is noticed. */
export function parameters<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `unknown: ${issue.keys.join(', ')}; allowed: ${Object.keys(shape).join(', ')}`
        : undefined,
  })
}

/** A message with the allowed and the given value. */
export function expected(allowed: string) {
  return ({ input }: { readonly input?: unknown }) =>
    input === undefined ? `missing: must be ${allowed}` : `must be ${allowed}, not ${shown(input)}`
}

function shown(input: unknown): string {
  if (typeof input === 'number') return String(input)
  const json = JSON.stringify(input)
  return json.length > 60 ? `${json.slice(0, 59)}…` : json
}

/** Leaves other values unchanged; the schema rejects them. */
function numberIn(pattern: RegExp) {
  return (value: unknown) => (typeof value === 'string' && pattern.test(value) ? Number(value) : value)
}
