/** Canonical text of a value: two values have the same text only if they are equal. Key order is ignored. */

import { ContractError } from '../lib/errors.ts'

/** Stops recursion into cyclic values. */
const deepest = 1_000

/** Throws if the value is cyclic or nested too deeply. */
export function canonical(value: unknown): string {
  return text(value, 0)
}

function text(value: unknown, depth: number): string {
  if (depth > deepest) throw new ContractError(`nested deeper than ${deepest} levels`)
  if (typeof value === 'string') return JSON.stringify(value)
  // JSON cannot represent NaN, Infinity and -0.
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value)
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return list(value, depth)
  if (value instanceof Map || value instanceof Set || ArrayBuffer.isView(value)) {
    return `${value.constructor.name}${list([...(value as Iterable<unknown>)], depth)}`
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') return text(value.toJSON(), depth + 1)
  return object(value as Record<string, unknown>, depth)
}

function list(values: readonly unknown[], depth: number): string {
  let all = '['
  for (let i = 0; i < values.length; i++) all += `${i > 0 ? ',' : ''}${text(values[i], depth + 1)}`
  return `${all}]`
}

/** A missing key and a key whose value is undefined are equal. */
function object(value: Record<string, unknown>, depth: number): string {
  let all = '{'
  for (const name of Object.keys(value).sort()) {
    const field = value[name]
    if (field === undefined) continue
    all += `${all.length > 1 ? ',' : ''}${JSON.stringify(name)}:${text(field, depth + 1)}`
  }
  return `${all}}`
}
