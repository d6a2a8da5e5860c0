/**
 * Reads the heads of plain requests: HTTP/1.1 with nothing that parsers could read in different ways, and nothing that
 * changes how the connection goes on. A fuzz target proves that Node's parser reads each of them in the same way.
 */

import { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { malformed, token, valueFrom } from '../direct/answer-reader.ts'
import { rememberNames } from '../direct/name-uses.ts'

/** Longer heads are not read here. */
export const longestHead = 8 * 1024
/** Node ignores headers beyond its limit of 1,000. */
const mostHeaders = 100

export interface PlainHead {
  method: string
  target: string
  fields: PlainFields
}

/** The headers of a request. Most requests of a connection have the same ones, and share them. */
export class PlainFields {
  readonly text: string
  /** Names and values in turn. */
  readonly raw: string[]
  /** Length of the body. Undefined: the request does not say, so it has none. */
  readonly length: number | undefined
  #message: IncomingMessage | undefined
  /** What a program receives of them; null: it needs the general path. Set when first needed. */
  forProgram: string | null | undefined

  constructor(text: string, raw: string[], length: number | undefined) {
    this.text = text
    this.raw = raw
    this.length = length
  }

  /** Joined by the rules of Node. */
  headers(socket: Socket): Pick<IncomingMessage, 'headers' | 'headersDistinct'> {
    this.#message ??= nodeMessage(socket, this.raw)
    return this.#message
  }
}

function nodeMessage(socket: Socket, raw: string[]): IncomingMessage {
  const message = new IncomingMessage(socket)
  const lines = message as unknown as { _addHeaderLines(raw: string[], count: number): void }
  lines._addHeaderLines(raw, raw.length)
  return message
}

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])
const version = ' HTTP/1.1'
const plainTarget = /^\/[\x21\x22\x24-\x7e]*$/

/** What a header means for the connection. */
type Meaning = 'host' | 'length' | 'connection' | 'odd' | 'none'

const meanings: ReadonlyMap<string, Meaning> = new Map([
  ['host', 'host'],
  ['content-length', 'length'],
  ['connection', 'connection'],
  ['proxy-connection', 'connection'],
  ['transfer-encoding', 'odd'],
  ['upgrade', 'odd'],
  ['expect', 'odd'],
])
const meaningOf = rememberNames<Meaning>((name) =>
  token.test(name) ? (meanings.get(name.toLowerCase()) ?? 'none') : 'odd',
)

/** `text`: a head without the empty line at its end. `known`: headers that are likely. Undefined: it is not plain. */
export function readPlainHead(text: string, known: PlainFields | undefined): PlainHead | undefined {
  const lineEnd = text.indexOf('\r\n')
  const space = text.indexOf(' ')
  if (lineEnd < 0 || !text.startsWith(version, lineEnd - version.length)) return undefined
  const method = text.slice(0, space)
  const target = text.slice(space + 1, lineEnd - version.length)
  if (!methods.has(method) || !plainTarget.test(target)) return undefined
  const rest = text.slice(lineEnd + 2)
  const fields = rest === known?.text ? known : readFields(rest)
  return fields && { method, target, fields }
}

function readFields(text: string): PlainFields | undefined {
  const lines = text.split('\r\n')
  if (lines.length > mostHeaders) return undefined
  const raw: string[] = []
  let hosts = 0
  let length: number | undefined
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon))
    const value = valueFrom(line, colon + 1)
    if (malformed.test(value)) return undefined
    raw.push(name, value)
    const meaning = meaningOf(name)
    if (meaning === 'odd') return undefined
    if (meaning === 'host') hosts++
    if (meaning === 'connection' && value.toLowerCase() !== 'keep-alive') return undefined
    if (meaning === 'length') {
      if (length !== undefined || !/^\d{1,15}$/.test(value)) return undefined
      length = Number(value)
    }
  }
  return hosts === 1 ? new PlainFields(text, raw, length) : undefined
}
