/**
 * Reads the parameters of a request from its query and a JSON body, checks them by the workload's schema, and derives what
 * the front must know of them. Runs on the front's event loop for short parameters, else in a thread.
 */

import { hash } from 'node:crypto'
import type { Question } from '../../estimate/estimator.ts'
import type { Questioner } from '../../estimate/question.ts'
import { PlimsollError } from '../../lib/errors.ts'
import { keysOf } from '../../workload/standard-schema.ts'
import type { BodyFacts, Workload } from '../../workload/workload.ts'
import { answerText } from '../cache/answer-text.ts'

/** Longer parameters are read in a thread: usual schemas check this length in less than a millisecond, even if all is wrong. */
export const shortBytes = 1024
/** Longer parameters are not stored with the costs of their request. */
export const keptBytes = 4 * 1024
/** Characters of a value, of a name and of a message that an error quotes. */
const longestQuote = 100
const longestMessage = 300
/** Wrong values that an error lists. */
const mostErrors = 10
/** Nesting depth of JSON: parameters are serialized again by recursion. */
export const deepest = 200

/** What a request holds of its parameters. */
export interface GivenParams {
  /** As sent, without `?`. */
  query: string
  /** A JSON body. Undefined: the body, if there is one, is data. */
  json?: Uint8Array | undefined
  body?: BodyFacts | undefined
}

export interface ReadParams {
  /** JSON text of the parameters as sent, as workers receive it. */
  text: ParamsText
  /** As sent, for the ledger; `isKept` false: too long for it. */
  raw: Record<string, unknown>
  isKept: boolean
  /** Its `params` are as the schema returned them. */
  question: Question
  safeToRepeat: boolean
  lane?: string | undefined
  /** Equal for parameters that are owed the same answer. Undefined: no answer may be shared. */
  answer?: string | undefined
}

/** Text, followed by the bytes of the JSON body from `bodyFrom`. Undefined: the text is complete. */
export interface ParamsText {
  start: Uint8Array
  bodyFrom?: number | undefined
}

/** Parameters that the workload rejects, or that cannot be read. */
export class BadParams extends PlimsollError {
  readonly code: 'bad-parameters' | 'bad-json'
  readonly fields: Readonly<Record<string, unknown>>
  constructor(code: BadParams['code'], message: string, fields: Record<string, unknown> = {}) {
    super(message)
    this.code = code
    this.fields = fields
  }
}

/** Rejects with `BadParams`. Synchronous up to the schema's answer, unless the schema is asynchronous. */
export async function readParams(
  workload: Workload,
  given: GivenParams,
  ask: Questioner,
): Promise<ReadParams> {
  const { raw, text } = sentParams(given)
  const answer = workload.params?.['~standard'].validate(raw)
  const result = answer instanceof Promise ? await answer : answer
  if (result?.issues) throw wrongValues(result.issues, raw)
  const checked = result ? result.value : raw
  return {
    text,
    raw,
    isKept: true,
    question: ask(workload, checked, given.body),
    safeToRepeat: workload.safeToRepeat(checked),
    lane: workload.lane?.(checked),
    answer: workload.deterministic(checked) ? shortened(answerText(raw, checked)) : undefined,
  }
}

export interface CheckedParams {
  /** As sent. */
  raw: Record<string, unknown>
  /** JSON text, as workers receive it. */
  text: Uint8Array
  checked: unknown
}

/** Undefined: they are long, or the schema rejects them or does not answer at once. Throws `BadParams`. */
export function checkedParams(workload: Workload, given: GivenParams): CheckedParams | undefined {
  const { raw, text } = sentParams(given)
  if (text.bodyFrom !== undefined) return undefined
  const answer = workload.params?.['~standard'].validate(raw)
  if (answer instanceof Promise || answer?.issues) return undefined
  return { raw, text: text.start, checked: answer ? answer.value : raw }
}

function sentParams({ query, json }: GivenParams): Pick<ReadParams, 'raw' | 'text'> {
  const inQuery = fromQuery(query)
  if (!json) return { raw: inQuery, text: { start: Buffer.from(JSON.stringify(inQuery)) } }
  const { value, text } = fromJson(json, inQuery)
  return { raw: { ...inQuery, ...value }, text }
}

type Issues = readonly { message: string; path?: Parameters<typeof keysOf>[0] }[]

function wrongValues(issues: Issues, raw: Record<string, unknown>): BadParams {
  const errors = issues.slice(0, mostErrors).map(({ message, path }) => {
    const keys = keysOf(path)
    const field = keys.join('.') || undefined
    const value = keys.reduce<unknown>(
      (part, key) => (part as Record<string, unknown> | undefined)?.[key],
      raw,
    )
    return {
      field: field && cut(field, longestQuote),
      value: field === undefined ? undefined : quote(value),
      message: cut(message, longestMessage),
    }
  })
  const more = issues.length - errors.length
  const sentences = errors.map(({ field, message }) => (field ? `${field}: ${message}` : message))
  if (more > 0) sentences.push(`and ${more} more`)
  return new BadParams('bad-parameters', sentences.join(' · '), { errors, ...(more > 0 && { more }) })
}

function fromQuery(query: string): Record<string, unknown> {
  const raw: Record<string, unknown> = {}
  for (const [name, value] of new URLSearchParams(query)) {
    if (Object.hasOwn(raw, name)) {
      const field = cut(name, longestQuote)
      const error = { field, value: quote(value), message: 'given more than once' }
      throw new BadParams('bad-parameters', `${field}: given more than once; it must be given once`, {
        errors: [error],
      })
    }
    Object.defineProperty(raw, name, { value, enumerable: true, configurable: true, writable: true })
  }
  return raw
}

function fromJson(
  bytes: Uint8Array,
  query: Record<string, unknown>,
): { value: Record<string, unknown>; text: ParamsText } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (isDeeper(buffer, deepest)) {
    throw new BadParams('bad-json', `The body is nested deeper than ${deepest} levels.`)
  }
  let value: unknown
  try {
    value = JSON.parse(buffer.toString('utf8'))
  } catch (error) {
    throw new BadParams('bad-json', `The body is not JSON: ${cut((error as Error).message, longestMessage)}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new BadParams('bad-json', 'The body must be a JSON object with the parameters by name.')
  }
  const twice = Object.keys(query).find((name) => Object.hasOwn(value, name))
  if (twice !== undefined) {
    throw new BadParams(
      'bad-parameters',
      `${cut(twice, longestQuote)}: given in the query and in the body; it must be given once`,
    )
  }
  return { value: value as Record<string, unknown>, text: mergedText(query, value, buffer) }
}

/** The members of the body follow those of the query. */
function mergedText(query: Record<string, unknown>, value: object, json: Buffer): ParamsText {
  const isAlone = Object.keys(query).length === 0
  const isEmpty = Object.keys(value).length === 0
  const start = isAlone ? '' : JSON.stringify(query).slice(0, -1) + (isEmpty ? '' : ',')
  const bodyFrom = isAlone ? 0 : json.indexOf('{') + 1
  if (json.length > shortBytes) return { start: Buffer.from(start), bodyFrom }
  return { start: Buffer.concat([Buffer.from(start), json.subarray(bodyFrom)]) }
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
  return cut(typeof value === 'string' ? value : JSON.stringify(value), longestQuote)
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text
}

function shortened(text: string): string {
  return text.length > 512 ? `#${hash('sha256', text, 'base64url')}` : text
}

/** The CPU time of this thread since then. */
export function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
