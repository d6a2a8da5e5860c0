/**
 * Serialises an answer as JSON. A value that JSON would drop or replace by `{}` is an error that names its path, because
 * the client would otherwise receive a wrong answer.
 */

/** Where a value that is not JSON was found, from the inside out, and what it is. */
interface Lost {
  keys: (string | number)[]
  message: string
}

export function toJson(value: unknown): string {
  let json: string | undefined
  try {
    json = JSON.stringify(value)
  } catch (error) {
    // A cycle, a BigInt, or a `toJSON` method or getter that threw.
    throw lostError(findLost(value, new Set())) ?? error
  }
  // Only now: a value that was serialised has no cycles.
  const lost = findLost(value)
  if (lost || json === undefined) throw lostError(lost) ?? new TypeError('answer: toJSON returned undefined')
  return json
}

function lostError(lost: Lost | undefined): TypeError | undefined {
  if (!lost) return undefined
  const path = lost.keys.reverse().map((key) => {
    if (typeof key === 'number') return `[${key}]`
    return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
  })
  return new TypeError(`answer${path.join('')}: ${lost.message}`)
}

/** `ancestors` detects cycles; without it the value must have none. */
function findLost(value: unknown, ancestors?: Set<object>): Lost | undefined {
  if (typeof value !== 'object') return isLost(value) ? { keys: [], message: describe(value) } : undefined
  if (value === null) return undefined
  if (ancestors?.has(value))
    return { keys: [], message: 'refers to a value that contains it; JSON has no cycles' }
  ancestors?.add(value)
  const lost = Array.isArray(value) ? lostItem(value, ancestors) : lostField(value, ancestors)
  ancestors?.delete(value)
  return lost
}

function lostItem(items: readonly unknown[], ancestors?: Set<object>): Lost | undefined {
  for (let at = 0; at < items.length; at++) {
    const item = items[at]
    // Numbers and strings are tested here: long arrays consist of them.
    if (typeof item !== 'object' && !isLost(item)) continue
    const lost = findLost(item, ancestors)
    if (lost) return within(lost, at)
  }
  return undefined
}

function lostField(object: object, ancestors?: Set<object>): Lost | undefined {
  if (typeof (object as { toJSON?: unknown }).toJSON === 'function') return undefined
  if (!isPlain(object)) return { keys: [], message: describe(object) }
  for (const key in object) {
    const field = (object as Record<string, unknown>)[key]
    if (typeof field !== 'object' && !isLost(field)) continue
    const lost = findLost(field, ancestors)
    if (lost) return within(lost, key)
  }
  return undefined
}

function within(lost: Lost, key: string | number): Lost {
  lost.keys.push(key)
  return lost
}

function isLost(value: unknown): boolean {
  return typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint'
}

/** An object literal, also one of another realm, or an object without a prototype. */
function isPlain(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object)
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null
}

function describe(value: unknown): string {
  if (typeof value === 'bigint') return 'a BigInt is not JSON; return a number or a string'
  if (typeof value !== 'object' || value === null) return `a ${typeof value} is not JSON`
  const name = classOf(value)
  const advice = instead[name]
  if (advice !== undefined) return `${/^[AEIOU]/.test(name) ? 'an' : 'a'} ${name} is not JSON; ${advice}`
  if (ArrayBuffer.isView(value)) {
    return `a ${name} is not JSON; return Array.from(numbers), or the bytes alone as the answer`
  }
  return `an instance of ${name} is not JSON; return a plain object, or give ${name} a toJSON method`
}

function classOf(value: object): string {
  const { name } = (value as { constructor?: { name?: unknown } }).constructor ?? {}
  if (typeof name === 'string' && name !== '') return name
  return Object.prototype.toString.call(value).slice('[object '.length, -1)
}

const instead: Readonly<Record<string, string>> = {
  Map: 'return Object.fromEntries(map) or [...map]',
  Set: 'return [...set]',
  WeakMap: 'return a plain object',
  WeakSet: 'return an array',
  Promise: 'await it first',
  Error: 'return its message, or throw it',
  RegExp: 'return its source',
  ArrayBuffer: 'return Array.from(new Uint8Array(buffer)), or the bytes alone as the answer',
}
