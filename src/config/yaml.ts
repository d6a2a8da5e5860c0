/** Reads YAML as JSON would be read: keys are text. */

import { parse } from 'yaml'
import { ConfigError } from '../lib/errors.ts'

/**
 * Keys that are lists or maps are rejected. The library would turn them into text, which takes time and memory that grow
 * exponentially with their nesting.
 */
export function readYaml(text: string): unknown {
  return plain(parse(text, { mapAsMap: true }))
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (!(value instanceof Map)) return value
  return Object.fromEntries([...value].map(([key, part]: [unknown, unknown]) => [keyOf(key), plain(part)]))
}

function keyOf(key: unknown): string {
  if (typeof key !== 'object') return String(key)
  throw new ConfigError(`a key is ${key === null ? 'empty' : 'a list or a map'}: must be text`)
}
