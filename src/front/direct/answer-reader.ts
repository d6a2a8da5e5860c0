/**
 * Reads a program's answer from the bytes of its connection. Only plain answers are read: HTTP/1.1 with a length or in
 * chunks, without trailers, folded lines or anything that parsers disagree about. All others are `odd`: the request then
 * takes the general path, where Node's parser decides. Of a `long` answer, whose length must be known, only the head and
 * the first bytes are read; the rest is passed on as it arrives.
 */

import { type ReadBuffers, readBufferBytes } from '../../lib/read-buffers.ts'
import type { HttpHead } from '../../wire/messages.ts'
import { rememberNames } from './name-uses.ts'

/** Longer answers are not held until they are complete. */
export const longestBody = readBufferBytes
/** Shorter answers are copied. */
const shortBody = 16 * 1024
const longestHead = 64 * 1024
const headEnd = Buffer.from('\r\n\r\n')
const longestSizeLine = 10
const [cr, lf] = [13, 10]

/** What a header means for the reader. */
type Meaning = 'length' | 'coding' | 'connection' | 'type' | 'odd' | 'none'

const meanings: ReadonlyMap<string, Meaning> = new Map([
  ['content-length', 'length'],
  ['transfer-encoding', 'coding'],
  ['connection', 'connection'],
  ['content-type', 'type'],
  // `connection: close` names it.
  ['close', 'odd'],
  ['trailer', 'odd'],
  ['upgrade', 'odd'],
  ['plimsoll-work', 'odd'],
])
export const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** Control characters, among them line ends that are not CRLF. */
export const malformed = /[^\t\x20-\x7e\x80-\xff]/
const meaningOf = rememberNames<Meaning>((name) =>
  token.test(name) ? (meanings.get(name.toLowerCase()) ?? 'none') : 'odd',
)

type State = 'head' | 'length' | 'size' | 'chunk' | 'chunk-end' | 'last' | 'done' | 'long' | 'odd'

export class AnswerReader {
  state: State = 'head'
  head: HttpHead | undefined
  readonly body: Buffer[] = []
  /** False: the connection cannot be used again. */
  keepsAlive = true
  readonly #hasBody: boolean
  readonly #buffers: ReadBuffers
  /** A body whose length is known and not short; `#filled` bytes of it have arrived. */
  #whole: Buffer | undefined
  #filled = 0
  /** The beginning of a head, or of a line of a chunk. */
  #partial: Buffer | undefined
  /** Bytes left of the body or of the current chunk. */
  #left = 0
  /** Bytes of the body so far, with the current chunk. */
  #bytes = 0

  /** `method`: of the request. */
  constructor(method: string, buffers: ReadBuffers) {
    this.#hasBody = method !== 'HEAD'
    this.#buffers = buffers
  }

  /** Where to read the next bytes to, so that they need not be copied. Undefined: anywhere. */
  get place(): Buffer | undefined {
    return this.state === 'length' ? this.#whole?.subarray(this.#filled) : undefined
  }

  /** Bytes of a long answer that are still to come. */
  get left(): number {
    return this.#left
  }

  /** Reads no more of an answer whose length is known: it becomes a long one. False: its length is unknown. */
  stopEarly(): boolean {
    if (this.state !== 'length') return false
    if (this.#whole && this.#filled > 0) this.body.push(this.#whole.subarray(0, this.#filled))
    this.state = 'long'
    return true
  }

  /** What `body` holds has been used. */
  release(): void {
    if (this.#whole) this.#buffers.give(this.#whole)
    this.#whole = undefined
  }

  /** `given` is used for other data after the call. */
  read(given: Buffer): void {
    let rest: Buffer | undefined = given
    if (this.#partial) {
      rest = Buffer.concat([this.#partial, given])
      this.#partial = undefined
    }
    while (rest && rest.length > 0 && !isOver(this.state)) rest = this.#step(rest)
    // Nobody asked for more.
    if (rest && rest.length > 0) this.keepsAlive = false
  }

  /** Returns what is left; undefined: more must arrive first. */
  #step(data: Buffer): Buffer | undefined {
    switch (this.state) {
      case 'head':
        return this.#readHead(data)
      case 'length':
      case 'chunk':
        return this.#readBytes(data)
      case 'chunk-end':
        return this.#readLineEnd(data, 'size')
      case 'last':
        return this.#readLineEnd(data, 'done')
      default:
        return this.#readSize(data)
    }
  }

  #readHead(data: Buffer): Buffer | undefined {
    const end = data.indexOf(headEnd)
    if (end < 0 || end > longestHead) return data.length > longestHead ? this.#odd() : this.#wait(data)
    const head = parseHead(data.toString('latin1', 0, end))
    if (!head) return this.#odd()
    const { length, isChunked, closes, ...rest } = head
    this.head = rest
    this.keepsAlive = !closes
    const isEmpty = !this.#hasBody || rest.status === 204 || rest.status === 304
    if (isEmpty || length === 0) this.state = 'done'
    else if (isChunked) this.state = 'size'
    else if (length !== undefined) return this.#readBody(length, data.subarray(end + headEnd.length))
    else return this.#odd()
    return data.subarray(end + headEnd.length)
  }

  #readBody(length: number, data: Buffer): Buffer {
    this.#left = length
    this.state = 'length'
    // A body that has arrived with its head is copied: it is about to be sent.
    if (length > longestBody) {
      const rest = this.#readBytes(data)
      this.state = 'long'
      return rest
    }
    if (length > shortBody && length > data.length) this.#whole = this.#buffers.take()
    return data
  }

  #readBytes(data: Buffer): Buffer {
    const piece = data.subarray(0, this.#left)
    this.#left -= piece.length
    if (this.#whole) this.#fill(this.#whole, piece)
    else if (piece.length > 0) this.body.push(Buffer.from(piece))
    if (this.#left === 0) this.state = this.state === 'length' ? 'done' : 'chunk-end'
    return data.subarray(piece.length)
  }

  #fill(whole: Buffer, piece: Buffer): void {
    if (piece.buffer !== whole.buffer) piece.copy(whole, this.#filled)
    this.#filled += piece.length
    if (this.#left === 0) this.body.push(whole.subarray(0, this.#filled))
  }

  #readSize(data: Buffer): Buffer | undefined {
    const end = data.indexOf('\r\n')
    if (end < 0) return data.length > longestSizeLine ? this.#odd() : this.#wait(data)
    const line = data.toString('latin1', 0, end)
    if (!/^[0-9a-f]{1,8}$/i.test(line)) return this.#odd()
    this.#left = Number.parseInt(line, 16)
    this.#bytes += this.#left
    if (this.#bytes > longestBody) return this.#odd()
    this.state = this.#left === 0 ? 'last' : 'chunk'
    return data.subarray(end + 2)
  }

  #readLineEnd(data: Buffer, next: 'size' | 'done'): Buffer | undefined {
    if (data[0] !== cr || (data.length > 1 && data[1] !== lf)) return this.#odd()
    if (data.length === 1) return this.#wait(data)
    this.state = next
    return data.subarray(2)
  }

  #wait(data: Buffer): undefined {
    this.#partial = Buffer.from(data)
  }

  #odd(): undefined {
    this.state = 'odd'
    this.keepsAlive = false
  }
}

function isOver(state: State): boolean {
  return state === 'done' || state === 'long' || state === 'odd'
}

interface ParsedHead extends HttpHead {
  length: number | undefined
  isChunked: boolean
  closes: boolean
}

/** Undefined: it is odd. */
function parseHead(text: string): ParsedHead | undefined {
  const lines = text.split('\r\n')
  const [, code, message = ''] = /^HTTP\/1\.1 ([2-5]\d\d)(?: (.*))?$/.exec(lines[0]!) ?? []
  if (code === undefined || malformed.test(message)) return undefined
  const head: ParsedHead = {
    ...{ status: Number(code), message, headers: [] },
    ...{ length: undefined, isChunked: false, closes: false },
  }
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i]!
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon))
    const value = valueFrom(line, colon + 1)
    const meaning = meaningOf(name)
    // To Node's parser a tab at the end is part of a coding.
    if (meaning === 'coding' && line.endsWith('\t')) return undefined
    if (malformed.test(value) || !isPlain(head, meaning, value)) return undefined
    head.headers.push(name, value)
  }
  return head.isChunked && head.length !== undefined ? undefined : head
}

/** False: the answer is odd. */
function isPlain(head: ParsedHead, meaning: Meaning, value: string): boolean {
  switch (meaning) {
    case 'none':
      return true
    case 'odd':
      return false
    case 'length':
      if (head.length !== undefined || !/^\d{1,15}$/.test(value)) return false
      head.length = Number(value)
      return true
    case 'coding':
      if (head.isChunked || value.toLowerCase() !== 'chunked') return false
      head.isChunked = true
      return true
    case 'type':
      // Events must reach the client when they happen.
      return !/^text\/event-stream/i.test(value)
    case 'connection': {
      const option = value.toLowerCase()
      head.closes ||= option === 'close'
      return option === 'close' || option === 'keep-alive'
    }
  }
}

/** Without surrounding spaces and tabs. `trim` would remove no-break spaces too. */
export function valueFrom(line: string, from: number): string {
  let [start, end] = [from, line.length]
  while (start < end && isBlank(line.charCodeAt(start))) start++
  while (end > start && isBlank(line.charCodeAt(end - 1))) end--
  return line.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9
}
