/** Checks that rows, metrics and snapshots share. */
import { inspect } from 'node:util'

/** An error message for a field whose value is not allowed. */
export function invalid(field: string, value: unknown, allowed: string): string {
  return `${field} = ${inspect(value, { depth: 0 }).slice(0, 80)}: must be ${allowed}`
}

export function isJson(text: string, isValid: (value: unknown) => boolean = () => true): boolean {
  try {
    return isValid(JSON.parse(text))
  } catch {
    return false
  }
}
