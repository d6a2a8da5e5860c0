/** Parameters of a request, from the query and a JSON body, checked by the workload's schema. */

import type { IncomingMessage } from 'node:http'
import { keysOf } from '../../workload/standard-schema.ts'
import type { Workload } from '../../workload/workload.ts'
import { RequestProblem } from '../problem.ts'
import type { Body } from './body.ts'

/** Characters of a value that an error quotes. */
const longestQuote = 100
/** Wrong values that an error lists. */
const mostErrors = 20
/** Nesting depth of JSON: parameters are serialized again by recursion. */
export const deepest = 200

export interface Parameters {
  /** As the client sent them. The worker receives these and checks them again. */
  raw: Record<string, unknown>
  checked: unknown
}

export async function readParameters(
  workload: Workload,
  request: IncomingMessage,
  query: URLSearchParams,
  body: Body,
): Promise<Parameters> {
  const given = fromQuery(query)
  const raw = isJson(request) ? { ...given, ...(await fromJson(body, given)) } : given
  if (!workload.params) return { raw, checked: raw }
  const result = await workload.params['~standard'].validate(raw)
  if (!result.issues) return { raw, checked: result.value }
  const errors = result.issues.slice(0, mostErrors).map(({ message, path }) => {
    const keys = keysOf(path)
    const field = keys.join('.') || undefined
    const value = keys.reduce<unknown>(
      (part, key) => (part as Record<string, unknown> | undefined)?.[key],
      raw,
    )
    return { field, value: field === undefined ? undefined : quote(value), message }
  })
  const sentences = errors.map(({ field, message }) => (field ? `${field}: ${message}` : message))
  throw new RequestProblem(400, 'bad-parameters', sentences.join('; '), { fields: { errors } })
}

/** True: the body holds parameters, not data. */
export function isJson(request: IncomingMessage): boolean {
  return /^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')
}

function fromQuery(query: URLSearchParams): Record<string, unknown> {
  const raw: Record<string, unknown> = {}
  for (const [name, value] of query) {
    if (Object.hasOwn(raw, name)) {
      throw new RequestProblem(
        400,
        'bad-parameters',
        `${name}: given more than once; it must be given once`,
        {
          fields: {
            errors: [{ field: name, value: quote(query.getAll(name)), message: 'given more than once' }],
          },
        },
      )
    }
    Object.defineProperty(raw, name, { value, enumerable: true, configurable: true, writable: true })
  }
  return raw
}

async function fromJson(body: Body, query: Record<string, unknown>): Promise<Record<string, unknown>> {
  const bytes = await body.read()
  if (isDeeper(bytes, deepest)) {
    throw new RequestProblem(400, 'bad-json', `The body is nested deeper than ${deepest} levels.`)
  }
  const text = bytes.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new RequestProblem(400, 'bad-json', `The body is not JSON: ${(error as Error).message}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RequestProblem(400, 'bad-json', 'The body must be a JSON object with the parameters by name.')
  }
  const twice = Object.keys(value).find((name) => Object.hasOwn(query, name))
  if (twice !== undefined) {
    throw new RequestProblem(
      400,
      'bad-parameters',
      `${twice}: given in the query and in the body; it must be given once`,
    )
  }
  return value as Record<string, unknown>
}

/** Checked before parsing: deep nesting makes `JSON.parse` slow, which delays all clients. */
export function isDeeper(json: Buffer, levels: number): boolean {
  let depth = 0
  let quoted = false
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === 0x22) quoted = !quoted
    else if (quoted) at += byte === 0x5c ? 1 : 0
    else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > levels) return true
    } else if (byte === 0x5d || byte === 0x7d) depth--
  }
  return false
}

function quote(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'boolean' || value === null || value === undefined)
    return value
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > longestQuote ? `${text.slice(0, longestQuote)}…` : text
}
