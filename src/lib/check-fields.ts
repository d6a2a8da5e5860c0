/** Checks the names of fields in objects that users write. */

import { invalid } from './checks.ts'
import { didYouMean } from './did-you-mean.ts'
import { ConfigError } from './errors.ts'

/** The fields of an object. Unknown fields are rejected by name. */
export function checkFields(
  option: string,
  value: unknown,
  allowed: readonly string[],
): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(option, value, `an object with ${allowed.join(', ')}`)
  const unknown = Object.keys(value).find((name) => !allowed.includes(name))
  if (unknown !== undefined) {
    const hint = didYouMean(unknown, allowed) || `; options are ${allowed.join(', ')}`
    throw new ConfigError(`${option}: unknown option ${unknown}${hint}`)
  }
  return value as Record<string, unknown>
}
