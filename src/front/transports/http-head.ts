/** Parses the head of a program's answer as the worker sends it. */

import { validateHeaderName, validateHeaderValue } from 'node:http'
import { ProtocolError } from '../../lib/errors.ts'
import { type HttpHead, headers } from '../../wire/messages.ts'
import { valuesOf } from '../../wire/raw-headers.ts'
import type { WorkerResponse } from './worker-response.ts'

const longestHead = 1024 * 1024
const nothing = Buffer.alloc(0)

export interface AnswerEvents {
  /** False: the rest of the answer is not wanted. */
  head(head: HttpHead): boolean
  /** Returns a promise if nothing more may arrive until it resolves. False: the rest of the answer is not wanted. */
  body(chunk: Buffer): boolean | Promise<boolean>
}

/** Resolves when the answer has ended or is not wanted. Rejects if it is malformed or breaks off. */
export function readAnswer(response: WorkerResponse, on: AnswerEvents): Promise<void> {
  const bytes = Number(response.headers[headers.headBytes])
  if (!(Number.isInteger(bytes) && bytes > 0 && bytes <= longestHead)) {
    throw new ProtocolError(`${headers.headBytes}: must be a whole number from 1 to ${longestHead}`)
  }
  return new Promise((resolve, reject) => {
    let start: Buffer | undefined = nothing
    let over = false
    const go = (wanted: boolean) => {
      if (wanted) return
      over = true
      response.pause()
      resolve()
    }
    const body = (chunk: Buffer) => {
      const wanted = on.body(chunk)
      if (typeof wanted === 'boolean') return go(wanted)
      response.pause()
      wanted.then((value) => (value ? response.resume() : go(false)), reject)
    }
    const data = (chunk: Buffer) => {
      if (!start) return body(chunk)
      const have = start.length === 0 ? chunk : Buffer.concat([start, chunk])
      start = have
      if (have.length < bytes) return
      start = undefined
      if (!on.head(parseHead(have.subarray(0, bytes)))) return go(false)
      if (have.length > bytes) body(have.subarray(bytes))
    }
    response.read({
      data: (chunk) => {
        if (over) return
        try {
          data(chunk)
        } catch (error) {
          reject(error)
          go(false)
        }
      },
      end: () => (start ? reject(new ProtocolError('the answer ended within its head')) : resolve()),
      failed: reject,
    })
  })
}

/** Throws a `ProtocolError` if the head cannot be passed on. `switching`: the status that it must have. */
export function parseHead(json: Buffer, switching?: 101): HttpHead {
  const { status, message, headers: raw } = (parsed(json.toString('utf8')) ?? {}) as Partial<HttpHead>
  const isStatus = (given: unknown): given is number =>
    switching ? given === switching : Number.isInteger(given) && Number(given) >= 200 && Number(given) <= 999
  if (!isStatus(status) || !isLine(message) || !isRaw(raw)) {
    throw new ProtocolError(`an answer of status ${status} cannot be passed on`)
  }
  return { status, message, headers: raw }
}

/** Names and values in turn, from JSON in a header; none if the header is missing. */
export function parseRaw(json: string | string[] | undefined): string[] {
  const raw = json === undefined ? [] : parsed(String(json))
  if (!isRaw(raw)) throw new ProtocolError(`${headers.trailers}: must be names and values in turn`)
  return raw
}

/** Events must reach the client when they happen. */
export function isEventStream({ headers: raw }: HttpHead): boolean {
  return valuesOf(raw, 'content-type').some((type) => /^\s*text\/event-stream\s*(;|$)/i.test(type))
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw new ProtocolError('the head of an answer is not JSON')
  }
}

function isLine(text: unknown): text is string {
  return typeof text === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(text)
}

function isRaw(raw: unknown): raw is string[] {
  if (!Array.isArray(raw) || raw.length % 2 !== 0 || !raw.every((each) => typeof each === 'string'))
    return false
  try {
    for (let i = 0; i < raw.length; i += 2) {
      validateHeaderName(raw[i]!)
      validateHeaderValue(raw[i]!, raw[i + 1]!)
    }
    return true
  } catch {
    return false
  }
}
