/** Answers to plain requests as text of one byte per character: the same bytes that Node's server would send. */

import { STATUS_CODES } from 'node:http'
import type { HttpHead } from '../../wire/messages.ts'
import type { WholeAnswer } from '../../wire/whole-answer.ts'
import { malformed, token } from '../direct/answer-reader.ts'
import { rememberNames } from '../direct/name-uses.ts'

export interface AnswerText {
  /** Ends with the empty line. */
  head: string
  /** The body follows as one chunk. */
  isChunked: boolean
}

/** How long Node's server keeps idle connections of its clients. */
export const keepAliveMs = 60_000
const alive = `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveMs / 1000}\r\n`

type Meaning = 'date' | 'length' | 'odd' | 'none'

const meanings: ReadonlyMap<string, Meaning> = new Map([
  ['date', 'date'],
  ['content-length', 'length'],
  ...['connection', 'keep-alive', 'transfer-encoding', 'trailer', 'upgrade', 'expect', 'cookie'].map(
    (name) => [name, 'odd'] as const,
  ),
])
const meaningOf = rememberNames<Meaning>((name) =>
  token.test(name) ? (meanings.get(name.toLowerCase()) ?? 'none') : 'odd',
)

/** `head`: its characters are valid. Undefined: only Node's server can send it. */
export function proxiedText({ status, message, headers }: HttpHead, isHead: boolean): AnswerText | undefined {
  const lines = new Lines(`HTTP/1.1 ${status} ${message}\r\n`)
  for (let i = 0; i < headers.length; i += 2) lines.add(headers[i]!, headers[i + 1]!)
  return lines.end(status, isHead)
}

/** Undefined: only Node's server can send it. */
export function wholeText(
  { status, fields }: Pick<WholeAnswer, 'status' | 'fields'>,
  account: Readonly<Record<string, string>>,
  isHead: boolean,
): AnswerText | undefined {
  const lines = new Lines(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`)
  for (const name in fields) {
    // The account takes precedence.
    if (name in account) continue
    const value: string | string[] = fields[name]!
    for (const each of typeof value === 'string' ? [value] : value) {
      if (malformed.test(each)) return undefined
      lines.add(name, each)
    }
  }
  for (const name in account) lines.add(name, account[name]!)
  return lines.end(status, isHead)
}

class Lines {
  #text: string
  #isOdd = false
  #hasDate = false
  #hasLength = false

  constructor(first: string) {
    this.#text = first
  }

  add(name: string, value: string): void {
    const meaning = meaningOf(name)
    if (meaning === 'odd') this.#isOdd = true
    else if (meaning === 'date') this.#hasDate = true
    else if (meaning === 'length') this.#hasLength = true
    this.#text += `${name}: ${value}\r\n`
  }

  end(status: number, isHead: boolean): AnswerText | undefined {
    if (this.#isOdd) return undefined
    const isChunked = !this.#hasLength && !isHead && status !== 204 && status !== 304
    const date = this.#hasDate ? '' : dateLine()
    const coding = isChunked ? 'Transfer-Encoding: chunked\r\n' : ''
    return { head: `${this.#text}${date}${alive}${coding}\r\n`, isChunked }
  }
}

let [dateSecond, dateText] = [0, '']

/** Made once a second. */
function dateLine(): string {
  const now = Date.now()
  const second = Math.floor(now / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    dateText = `Date: ${new Date(now).toUTCString()}\r\n`
  }
  return dateText
}
