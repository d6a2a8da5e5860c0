/** Checks of values that users write. Each error names the option, its value and what is allowed. */

import { ConfigError } from './errors.ts'

/** Longer values are cut in error messages. */
const maxQuoteLength = 100

/** `allowed` completes the sentence "must be …". */
export function invalid(option: string, value: unknown, allowed: string): ConfigError {
  // An import would cost each slot 2 ms.
  const { inspect } = process.getBuiltinModule('node:util')
  const text = inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY })
  const shown = text.length > maxQuoteLength ? `${text.slice(0, maxQuoteLength)}…` : text
  return new ConfigError(`${option} = ${shown}: must be ${allowed}`)
}

export interface Bounds {
  /** Default: no lower bound. */
  min?: number
  /** Default: no upper bound. */
  max?: number
  /** Exclusive lower bound, in place of `min`. */
  above?: number
  /** Default: any number. */
  integer?: boolean
}

export function isWithin(
  value: unknown,
  { min = -Infinity, max = Infinity, above, integer }: Bounds,
): boolean {
  if (typeof value !== 'number' || !(value >= min && value <= max)) return false
  if (above !== undefined && !(value > above)) return false
  return integer ? Number.isInteger(value) : Number.isFinite(value)
}

/** For example: "a whole number from 0 to 65535". */
export function boundsText({ min, max, above, integer }: Bounds): string {
  const kind = integer ? 'a whole number' : 'a number'
  if (above !== undefined) return `${kind} above ${above}${max === undefined ? '' : `, at most ${max}`}`
  if (min !== undefined && max !== undefined) return `${kind} from ${min} to ${max}`
  if (min !== undefined) return `${kind}, ${min} or more`
  return max === undefined ? kind : `${kind}, at most ${max}`
}

export function checkNumber(option: string, value: unknown, bounds: Bounds): number {
  if (isWithin(value, bounds)) return value as number
  throw invalid(option, value, boundsText(bounds))
}

export function checkBoolean(option: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw invalid(option, value, 'true or false')
}
