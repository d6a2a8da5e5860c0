/** Sources of features, such as `query.width` or `json.options.depth`. */

import { ConfigError } from '../lib/errors.ts'
import type { RouteRequest } from './config.ts'

/** Undefined: the request does not have it. */
export type FeatureSource = (request: RouteRequest) => number | string | boolean | undefined

const allowed =
  'path.NAME, query.NAME, header.NAME, json.FIELD.FIELD, body.bytes or method, for example query.width'

/** `parts` are the named segments of the route's path. */
export function featureSource(option: string, text: unknown, parts: readonly string[]): FeatureSource {
  const wrong = (must: string) => new ConfigError(`${option} = ${String(text)}: must be ${must}`)
  if (typeof text !== 'string') throw wrong(allowed)
  if (text === 'method') return ({ method }) => method
  if (text === 'body.bytes') return ({ bytes }) => bytes
  const dot = text.indexOf('.')
  const kind = text.slice(0, dot)
  const name = text.slice(dot + 1)
  if (dot < 1 || name === '') throw wrong(allowed)
  switch (kind) {
    case 'path':
      if (!parts.includes(name)) throw wrong(`one of the path's parts: ${parts.join(', ') || 'it has none'}`)
      return ({ path }) => own(path, name)
    case 'query':
      return ({ query }) => own(query, name)
    case 'header':
      return ({ headers }) => own(headers, name.toLowerCase())
    case 'json':
      return ({ json }) => scalar(name.split('.').reduce<unknown>(field, json))
    default:
      throw wrong(allowed)
  }
}

/** True: a JSON body must be read before the feature is known. */
export function isJsonSource(text: string): boolean {
  return text.startsWith('json.')
}

function own(values: Record<string, string>, name: string): string | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, unknown>)[name]
}

/** A list counts by its length. */
function scalar(value: unknown): number | string | boolean | undefined {
  if (Array.isArray(value)) return value.length
  return typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean'
    ? value
    : undefined
}
