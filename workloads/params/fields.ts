/**
 * Parameters that arrive as text in a query string or as values in JSON, read strictly: `z.coerce.number()` would
 * take '' for 0 and true for 1.
 */

import { z } from 'zod'

interface Range {
  min: number
  max: number
}

/** A whole number: 12 or '12'. */
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

/** Text that is not blank; white space around it does not count. */
export function text({ maxLength }: { maxLength: number }) {
  const error = expected(`text of 1 to ${maxLength} characters`)
  // One refinement, because length checks would speak up a second time about an array.
  return z
    .string({ error })
    .trim()
    .refine(({ length }) => length > 0 && length <= maxLength, { error })
    .meta({ minLength: 1, maxLength })
}

/** One of a few words. */
export function choice<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, { error: expected(`one of ${words.join(', ')}`) })
}

/** All parameters of a workload. One that is not listed is an error: a misspelt name must not pass unnoticed. */
export function parameters<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `unknown: ${issue.keys.join(', ')}; allowed: ${Object.keys(shape).join(', ')}`
        : undefined,
  })
}

/** Says what is allowed, and what was given instead. */
export function expected(allowed: string) {
  return ({ input }: { readonly input?: unknown }) =>
    input === undefined ? `missing: must be ${allowed}` : `must be ${allowed}, not ${shown(input)}`
}

function shown(input: unknown): string {
  if (typeof input === 'number') return String(input)
  const json = JSON.stringify(input)
  return json.length > 60 ? `${json.slice(0, 59)}…` : json
}

/** Anything else is left as it is, for the schema to refuse. */
function numberIn(pattern: RegExp) {
  return (value: unknown) => (typeof value === 'string' && pattern.test(value) ? Number(value) : value)
}
