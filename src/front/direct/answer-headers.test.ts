import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { answerHeaders } from '../transports/proxy-headers.ts'
import { plainAnswerHeaders } from './answer-headers.ts'

const account = { 'plimsoll-job': 'j', 'plimsoll-work': '1', 'server-timing': 't' }
const names = [
  ...[
    'Date',
    'Set-Cookie',
    'set-cookie',
    'Connection',
    'Keep-Alive',
    'TE',
    'Transfer-Encoding',
    'proxy-authenticate',
  ],
  ...[
    'Plimsoll-Job',
    'plimsoll-mine',
    'Server-Timing',
    'constructor',
    '__proto__',
    'Proxy',
    'Content-Length',
  ],
]

test('a plain answer has the same headers as on the general path', () => {
  const name = fc.constantFrom(...names)
  fc.assert(
    fc.property(fc.array(fc.tuple(name, fc.string()), { maxLength: 8 }), (pairs) => {
      // The reader accepts no other options of a connection.
      const raw = pairs.flatMap(([name, value]) => [name, name === 'Connection' ? 'keep-alive' : value])
      assert.deepEqual(plainAnswerHeaders(raw, account), answerHeaders(raw, account))
    }),
    { numRuns: 1_000 },
  )
})
