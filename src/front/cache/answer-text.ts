/** The text of parameters in cache keys. */

import { canonical } from '../../estimate/canonical.ts'

/** Objects nested deeper, such as cyclic ones, are not plain. */
const deepest = 200

/** Equal for parameters that are owed the same answer. `params`: as sent; `checked`: as the schema returned them. */
export function answerText(params: Record<string, unknown>, checked: unknown): string {
  return isPlain(checked) ? canonical(checked) : `as sent ${canonical(params)}`
}

/** Objects that a schema creates may differ although their JSON is equal; then the parameters as sent are used. */
function isPlain(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return !['symbol', 'function'].includes(typeof value)
  if ('toJSON' in value || depth > deepest) return false
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== Array.prototype && prototype !== null) return false
  return Object.values(value).every((part) => isPlain(part, depth + 1))
}
