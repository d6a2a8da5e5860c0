import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import test from 'node:test'
import { endToEnd } from '../../wire/raw-headers.ts'
import { answerHeaders, requestHeaders } from './proxy-headers.ts'

const from = (rawHeaders: string[], remoteAddress = '127.0.0.1') => {
  const headers = Object.fromEntries(
    rawHeaders.flatMap((name, i) => (i % 2 ? [] : [[name.toLowerCase(), rawHeaders[i + 1]!]])),
  )
  return { rawHeaders, headers, socket: { remoteAddress } } as unknown as IncomingMessage
}

test('hop-by-hop headers and headers named by Connection are dropped, except essential ones', () => {
  const raw = [
    ...['Host', 'h', 'Connection', 'close, X-Mine', 'connection', 'Content-Length, host', 'X-Mine', '1'],
    ...['Keep-Alive', '1', 'TE', 'x', 'Trailer', 'x', 'Transfer-Encoding', 'chunked', 'Upgrade', 'h2c'],
    ...['Proxy-Connection', 'x', 'proxy-authorization', 'x', 'Content-Length', '5', 'X-Y', 'a', 'x-y', 'b'],
  ]
  assert.deepEqual(endToEnd(raw), ['Host', 'h', 'Content-Length', '5', 'X-Y', 'a', 'x-y', 'b'])
})

test('forwarded headers are extended', () => {
  const sent = requestHeaders(
    from(
      ['Host', 'h', 'x-forwarded-for', 'a', 'X-Forwarded-For', 'b, c', 'X-Forwarded-Proto', 'https'],
      '::ffff:10.0.0.7',
    ),
    false,
  )
  assert.deepEqual(sent, [
    ...['Host', 'h', 'x-forwarded-for', 'a, b, c, 10.0.0.7', 'x-forwarded-proto', 'https, http'],
    ...['x-forwarded-host', 'h'],
  ])
  assert.deepEqual(requestHeaders(from(['Expect', '100-continue']), false), [
    ...['x-forwarded-for', '127.0.0.1', 'x-forwarded-proto', 'http'],
  ])
})

test('an upgrade request keeps its protocol', () => {
  const sent = requestHeaders(
    from(['Connection', 'Upgrade', 'Upgrade', 'websocket', 'Sec-WebSocket-Key', 'k']),
    true,
  )
  assert.deepEqual(sent.slice(0, 2), ['Sec-WebSocket-Key', 'k'])
  assert.deepEqual(sent.slice(-4), ['connection', 'upgrade', 'upgrade', 'websocket'])
})

test('headers about the job follow those of the program, and replace any of the same name', () => {
  const raw = ['Server-Timing', 'db;dur=1', 'Plimsoll-Work', '5', 'plimsoll-note', 'x', 'Set-Cookie', 'a']
  assert.deepEqual(answerHeaders(raw, { 'plimsoll-work': '5', 'server-timing': 'run;dur=2' }), [
    ...['Server-Timing', 'db;dur=1', 'plimsoll-note', 'x', 'Set-Cookie', 'a'],
    ...['plimsoll-work', '5', 'server-timing', 'run;dur=2'],
  ])
  assert.deepEqual(answerHeaders(raw.slice(2, 4), {}), ['Plimsoll-Work', '5'])
})
