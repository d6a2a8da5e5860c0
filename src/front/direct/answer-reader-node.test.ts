/** Whatever `AnswerReader` accepts, Node's client must read in the same way. */

import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { bytesServer } from './testing/node-client.ts'
import { readAnswer } from './testing/read-answer.ts'

const latin1 = (text: string) => Buffer.from(text, 'latin1')

const names = [
  ...[
    'Content-Length',
    'content-length',
    'Transfer-Encoding',
    'Connection',
    'connection',
    'Trailer',
    'Upgrade',
  ],
  ...[
    'X',
    'Set-Cookie',
    'constructor',
    '__proto__',
    'Content-Type',
    'Content-Length ',
    ' X',
    'X\xff',
    '',
    'Keep-Alive',
  ],
]
const values = [
  ...[
    '0',
    '1',
    '5',
    '05',
    '+5',
    '5 ',
    '5,5',
    '-1',
    '0x5',
    '5a',
    'chunked',
    'Chunked',
    'chunked ',
    'gzip, chunked',
  ],
  ...[
    'close',
    'keep-alive',
    'Close',
    'x',
    'close, x',
    '',
    ' ',
    '\t a \t',
    '\xa0',
    '\xe9',
    'a\x7f',
    'a\0',
    'a\rb',
    'a\nb',
  ],
  ...['a\r\n b', 'timeout=5'],
]
/** Mostly the first: an answer with many faults is odd for one of them, and says nothing about the others. */
const mostly = <T>(usual: readonly T[], others: readonly T[]) =>
  fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  )
const hostile = fc.tuple(
  ...[fc.constantFrom(...names), fc.constantFrom(': ', ':', ':  ', ' : ', ''), fc.constantFrom(...values)],
)
const usualHeaders = [
  ...[
    ['X', ': ', 'a'],
    ['Set-Cookie', ':', '\xa0b\xa0'],
    ['connection', ': ', 'close'],
    ['X\u0041', ':\t ', ''],
  ],
  ...[
    ['constructor', ': ', 'x '],
    ['__proto__', ': ', '\t'],
    ['Content-Type', ': ', 'text/plain'],
    ['Keep-Alive', ': ', ''],
  ],
]
const header = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...usualHeaders) },
  { weight: 1, arbitrary: hostile },
)
const head = fc.record({
  version: mostly(['HTTP/1.1'], ['HTTP/1.0', 'HTTP/2.0', 'http/1.1', 'HTTP/1.1 ']),
  status: mostly(['200', '204', '304', '404', '500', '599'], ['100', '103', '205', '1000', '20', '020']),
  message: mostly([' OK', ' Not Found', '', ' ', '  two', ' \xe4\xf6', ' a\tb'], [' a\x01', ' a\rb']),
  headers: fc.array(header, { maxLength: 3 }),
  framing: mostly(['length', 'chunked'], ['none', 'short', 'trailers', 'extension']),
  body: fc.string({ maxLength: 40 }),
  behind: mostly([''], ['x', '\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n']),
})
/** Replaces or inserts bytes anywhere. */
const mutation = fc.record({
  at: fc.nat(),
  drop: fc.nat({ max: 2 }),
  insert: fc.constantFrom('', ' ', '\r', '\n', '\r\n', '\0', ':', '0', 'A', ';', '\t', '\xff', '\r\n\r\n'),
})

type Parts = typeof head extends fc.Arbitrary<infer T> ? T : never

function bytesOf({ version, status, message, headers, framing, body, behind }: Parts): string {
  const size = body.length.toString(16)
  const chunks = body === '' ? '' : `${size}${framing === 'extension' ? ';a=b' : ''}\r\n${body}\r\n`
  const [own, sent] = {
    length: [`Content-Length: ${body.length}\r\n`, body],
    short: [`Content-Length: ${body.length + 3}\r\n`, body],
    none: ['', body],
    chunked: ['Transfer-Encoding: chunked\r\n', `${chunks}0\r\n\r\n`],
    extension: ['Transfer-Encoding: chunked\r\n', `${chunks}0\r\n\r\n`],
    trailers: ['Transfer-Encoding: chunked\r\n', `${chunks}0\r\nx: y\r\n\r\n`],
  }[framing] as [string, string]
  const others = headers.map(([name, colon, value]) => `${name}${colon}${value}\r\n`).join('')
  return `${version} ${status}${message}\r\n${own}${others}\r\n${sent}${behind}`
}

test('what is accepted is what Node’s client reads', async (t) => {
  const server = await bytesServer()
  let [all, accepted] = [0, 0]
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'GET', 'HEAD'),
        head,
        fc.option(mutation, { freq: 2 }),
        fc.nat(),
        async (method, parts, change, cut) => {
          let text = bytesOf(parts)
          if (change) {
            const at = change.at % text.length
            text = text.slice(0, at) + change.insert + text.slice(at + change.drop)
          }
          const bytes = latin1(text)
          all++
          const read = readAnswer(method, bytes, [cut % bytes.length])
          if (!read) return
          accepted++
          assert.deepEqual(await server.answer(method, bytes), read.answer, JSON.stringify(text))
        },
      ),
      { numRuns: 2_000 },
    )
  } finally {
    server.close()
  }
  // A test that compares little proves little.
  assert.ok(accepted > all / 4, `${accepted} of ${all} accepted`)
  t.diagnostic(`${accepted} of ${all} answers accepted`)
})
