/** WebSocket and other protocols: bytes pass between client and program unchanged. */

import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import test from 'node:test'
import { checkConfig } from '../src/config/check.ts'
import { serverCode } from '../src/config/code.ts'
import { joinFake } from './support/fake-worker.ts'
import { dial, readAll, readUntil, startLive, stopLive, until, untilIdle } from './support/live.ts'
import { useOwn } from './support/own-live.ts'

const own = useOwn((incoming, response) => {
  if (incoming.url === '/refuse') response.writeHead(426, { 'x-why': 'old' }).end('another, please')
  else response.end(`plain ${incoming.headers.upgrade}`)
})

own.program.on('upgrade', (incoming: IncomingMessage, socket: Duplex, first: Buffer) => {
  socket.on('error', () => socket.destroy())
  if (incoming.url === '/refuse') {
    socket.end('HTTP/1.1 426 Upgrade Required\r\nx-why: old\r\ncontent-length: 15\r\n\r\nanother, please')
    return
  }
  const { upgrade, 'sec-websocket-key': key, connection } = incoming.headers
  socket.write(
    `HTTP/1.1 101 Switching It\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n` +
      `Sec-WebSocket-Accept: ${key} ${connection}\r\n\r\nhello `,
  )
  if (first.length > 0) socket.unshift(first)
  socket.pipe(socket)
})

const ask = (path: string, more = '') =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: abc\r\n${more}\r\n`

test('after an upgrade, client and program speak their own protocol until one of them closes', async () => {
  const socket = dial(own)
  socket.write(`${ask('/chat')}early `)
  const head = await readUntil(socket, /hello early $/)
  assert.match(head, /^HTTP\/1\.1 101 Switching It\r\n/)
  assert.match(head, /\r\nSec-WebSocket-Accept: abc upgrade\r\n/i)
  assert.match(head, /\r\nconnection: upgrade\r\nupgrade: websocket\r\n/)
  assert.match(head, /\r\nplimsoll-job: /)
  socket.write('bytes \x00\xff')
  await readUntil(socket, /bytes/)
  assert.equal(own.state().placed, 1)
  socket.end('bye')
  assert.equal(await readAll(socket), 'bye')
  await untilIdle(own)
  assert.equal(own.state().counters.results, 1)
})

test('a client that disconnects also ends the program’s connection', async () => {
  const socket = dial(own)
  socket.write(ask('/chat'))
  await readUntil(socket, /hello /)
  socket.resetAndDestroy()
  await untilIdle(own)
})

test('a program that declines the upgrade answers as to any request', async () => {
  const socket = dial(own)
  socket.write(ask('/refuse'))
  const text = await readAll(socket)
  assert.match(text, /^HTTP\/1\.1 426 Upgrade Required\r\nx-why: old\r\n/)
  assert.match(text, /\r\nplimsoll-attempts: 1\r\n.*another, please$/s)
})

test('an offer of another HTTP version, or an upgrade with a body, is ignored', async () => {
  for (const upgrade of ['h2c', 'HTTP/3.0, h2c']) {
    const socket = dial(own)
    socket.write(
      upgrade === 'h2c'
        ? 'GET /x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n'
        : 'PUT /x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: other\r\nContent-Length: 2\r\n\r\nhi',
    )
    assert.match(await readAll(socket), /^HTTP\/1\.1 200 OK.*plain undefined/s)
  }
})

test('an upgrade on built-in or unknown paths is answered, and the connection closed', async () => {
  const socket = dial(own)
  socket.write(ask('/-/health'))
  assert.match(await readAll(socket), /^HTTP\/1\.1 200 OK.*"ok"/s)
  const lost = dial(own)
  lost.write(ask('/-/nothing'))
  assert.match(await readAll(lost), /^HTTP\/1\.1 404 /)
})

test('a stopping cluster closes upgraded connections', async () => {
  const config = checkConfig({ workers: { command: 'program {port}' } }, import.meta.dirname).own!
  const live = await startLive({ files: [], own: config, min: 0, max: 1 }, false)
  const port = Number(new URL(own.direct).port)
  const fake = await joinFake(live, { port, code: serverCode(config.workers!) })
  await live.ready
  const socket = dial(live)
  socket.write(ask('/chat'))
  await readUntil(socket, /hello /)
  await stopLive(live)
  await until(() => socket.closed, 'the client is disconnected')
  await fake.close()
})

const limited = useOwn(
  (_incoming, response) => void response.end('plain'),
  {},
  {
    frontLimits: { clientRequests: 1 },
  },
)

limited.program.on('upgrade', (_incoming: IncomingMessage, socket: Duplex) => {
  socket.on('error', () => socket.destroy())
  socket.write('HTTP/1.1 101 Fine\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello ')
  socket.pipe(socket)
})

test('a connection that switched counts as a request of its client until it closes', async () => {
  const socket = dial(limited)
  socket.write(ask('/chat'))
  await readUntil(socket, /hello /)
  assert.equal((await fetch(limited.url)).status, 429)
  socket.end()
  await readAll(socket)
  await untilIdle(limited)
  assert.equal((await fetch(limited.url)).status, 200)
})
