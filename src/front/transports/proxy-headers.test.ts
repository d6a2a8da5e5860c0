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

const stranger = { isTrusted: false, upgrade: false }
const proxy = { isTrusted: true, upgrade: false }

test('forwarded headers of a client are dropped and replaced', () => {
  const sent = requestHeaders(
    from(
      [
        ...['Host', 'h', 'x-forwarded-for', 'a', 'X-Forwarded-For', 'b, c', 'X-Forwarded-Proto', 'https'],
        ...[
          'X-Forwarded-Host',
          'x',
          'X-Forwarded-Port',
          '1',
          'Forwarded',
          'for=a',
          'X_Forwarded_For',
          'a',
          'Via',
          'v',
        ],
      ],
      '::ffff:10.0.0.7',
    ),
    stranger,
  )
  assert.deepEqual(sent, [
    ...['Host', 'h', 'Via', 'v', 'x-forwarded-for', '10.0.0.7', 'x-forwarded-proto', 'http'],
    ...['x-forwarded-host', 'h'],
  ])
  assert.deepEqual(requestHeaders(from(['Expect', '100-continue']), stranger), [
    ...['x-forwarded-for', '127.0.0.1', 'x-forwarded-proto', 'http'],
  ])
})

test('forwarded headers of a trusted proxy are passed on: its address is appended to the chain', () => {
  const sent = requestHeaders(
    from(
      [
        ...['Host', 'h', 'x-forwarded-for', 'a', 'X-Forwarded-For', 'b, c', 'X-Forwarded-Proto', 'https'],
        ...['X-Forwarded-Host', 'x', 'X-Forwarded-Port', '1', 'Forwarded', 'for=a', 'X_Forwarded_For', 'a'],
      ],
      'fd00::7',
    ),
    proxy,
  )
  assert.deepEqual(sent, [
    ...['Host', 'h', 'X-Forwarded-Port', '1', 'forwarded', 'for=a, for="[fd00::7]";proto=http'],
    ...['x-forwarded-for', 'a, b, c, fd00::7', 'x-forwarded-proto', 'https', 'x-forwarded-host', 'x'],
  ])
  assert.deepEqual(requestHeaders(from(['Host', 'h']), proxy), requestHeaders(from(['Host', 'h']), stranger))
})

test('a client cannot remove forwarded headers by naming them in Connection', () => {
  const sent = requestHeaders(from(['Host', 'h', 'Connection', 'x-forwarded-for, host']), stranger)
  assert.deepEqual(sent.slice(0, 4), ['Host', 'h', 'x-forwarded-for', '127.0.0.1'])
})

test('the host that the URL names replaces the Host header', () => {
  const sent = requestHeaders(from(['Host', 'h']), { ...stranger, host: 'other:99' })
  assert.deepEqual(sent.slice(0, 2), ['Host', 'other:99'])
  assert.deepEqual(sent.slice(-2), ['x-forwarded-host', 'other:99'])
})

test('an upgrade request keeps its protocol', () => {
  const sent = requestHeaders(
    from(['Connection', 'Upgrade', 'Upgrade', 'websocket', 'Sec-WebSocket-Key', 'k']),
    { isTrusted: false, upgrade: true },
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
