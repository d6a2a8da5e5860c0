import assert from 'node:assert/strict'
import test from 'node:test'
import { streamHead } from './stream-head.ts'

const usual = [':method', 'GET', ':scheme', 'https', ':authority', 'a.example', ':path', '/x?y']
const read = (raw: string[], hasBody = false) => streamHead(raw, hasBody, () => 'key')

test('pseudo-headers become the request line and the Host header', () => {
  assert.deepEqual(read([...usual, 'accept', '*/*']), {
    method: 'GET',
    target: '/x?y',
    headers: ['host', 'a.example', 'accept', '*/*'],
  })
})

test('a Host header may repeat or replace the authority, but not contradict it', () => {
  const withHost = (host: string) => read([...usual, 'host', host])
  assert.deepEqual(withHost('a.example'), { method: 'GET', target: '/x?y', headers: ['host', 'a.example'] })
  assert.deepEqual(withHost('b.example'), { bad: 'Host, :authority: must be the same' })
  const only = read([':method', 'GET', ':path', '/', 'host', 'b.example'])
  assert.deepEqual(only, { method: 'GET', target: '/', headers: ['host', 'b.example'] })
  assert.deepEqual(read([':method', 'GET', ':path', '/', ':authority', 'me@b.example']), {
    bad: ':authority: must not contain a user name',
  })
})

test('the parts of a cookie are joined, and headers of a connection dropped', () => {
  assert.deepEqual(
    read([...usual, 'cookie', 'a=1', 'keep-alive', '5', 'cookie', 'b=2', 'http2-settings', 'x']),
    { method: 'GET', target: '/x?y', headers: ['host', 'a.example', 'cookie', 'a=1; b=2'] },
  )
})

test('a body of unknown length is one in chunks', () => {
  const headers = (...more: string[]) => ({
    method: 'GET',
    target: '/x?y',
    headers: ['host', 'a.example', ...more],
  })
  assert.deepEqual(read(usual, true), headers('transfer-encoding', 'chunked'))
  assert.deepEqual(
    read([...usual, 'content-length', '3', 'transfer-encoding', 'x'], true),
    headers('content-length', '3'),
  )
})

test('a request for WebSocket becomes an upgrade request; other tunnels are refused', () => {
  const connect = (protocol: string[]) => [...usual.with(1, 'CONNECT'), ...protocol]
  assert.deepEqual(read(connect([':protocol', 'websocket']), true), {
    method: 'GET',
    target: '/x?y',
    headers: [
      ...['host', 'a.example', 'connection', 'upgrade', 'upgrade', 'websocket'],
      ...['sec-websocket-key', 'key'],
    ],
    protocol: 'websocket',
  })
  assert.deepEqual(read(connect([':protocol', 'connect-udp'])), {
    bad: ':protocol = connect-udp: must be websocket',
  })
  assert.deepEqual(read(connect([])), { bad: 'CONNECT: is not supported' })
})
