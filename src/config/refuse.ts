/** Words for what is wrong with a configuration: the option, its value and what is allowed. */

import { inspect } from 'node:util'
import { ConfigError } from '../lib/errors.ts'

/** Of a value that is quoted. */
const longestQuote = 100

export function wrong(option: string, value: unknown, must: string): ConfigError {
  const text = inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY })
  const shown = text.length > longestQuote ? `${text.slice(0, longestQuote)}…` : text
  return new ConfigError(`${option} = ${shown}: must be ${must}`)
}

/** The fields of an object; others than those allowed are refused by name. */
export function fieldsOf(
  option: string,
  value: unknown,
  allowed: readonly string[],
): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw wrong(option, value, `an object with ${allowed.join(', ')}`)
  }
  const unknown = Object.keys(value).find((name) => !allowed.includes(name))
  if (unknown !== undefined) {
    throw new ConfigError(`${option}: unknown option ${unknown}; options are ${allowed.join(', ')}`)
  }
  return value as Record<string, unknown>
}

export interface NumberBounds {
  min: number
  max: number
  whole?: boolean
}

/** The number, or the default if there is none. */
export function numberOf(
  option: string,
  value: unknown,
  byDefault: number,
  { min, max, whole }: NumberBounds,
): number {
  if (value === undefined) return byDefault
  if (typeof value === 'number' && value >= min && value <= max && (!whole || Number.isInteger(value))) {
    return value
  }
  throw wrong(option, value, `${whole ? 'a whole number' : 'a number'} from ${min} to ${max}`)
}

export function flagOf(option: string, value: unknown): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value
  throw wrong(option, value, 'true or false')
}
