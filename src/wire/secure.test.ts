import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { createServer, request } from 'node:http'
import { type AddressInfo, connect, createServer as createNetServer, type Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { type SecureParts, type SharedSecret, secureListener, secureSocket, tlsFailure } from './secure.ts'
import { newTokens } from './token.ts'

const tokens = newTokens()
const timeout = 60_000

/** A server behind TLS, and what it refuses. */
async function useServer(t: TestContext, limits: SecureParts['limits'] = {}) {
  const http = createServer((_, response) => response.end('inside'))
  const news = new EventEmitter()
  const { listener, close } = secureListener(http, {
    tokenOf: (identity) => (identity === 'worker' || identity === 'front' ? tokens[identity] : undefined),
    refused: (address, why) => news.emit('refused', address, why),
    limits,
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.after(close)
  const { port } = listener.address() as AddressInfo
  return { at: { host: '127.0.0.1', port }, refused: once(news, 'refused'), http, close }
}

/** Resolves when the other side has closed the connection, whether by a reset or not. */
function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.resume().once('close', () => resolve()))
}

/** Why the connection failed, in words. */
async function failureOf(at: { host: string; port: number }, secret: SharedSecret): Promise<string> {
  const socket = secureSocket(at, secret)
  const [error] = await once(socket, 'error')
  return tlsFailure(error)
}

test('a client with the token is served, with forward secrecy and authenticated encryption', {
  timeout,
}, async (t) => {
  const { at } = await useServer(t)
  const socket = secureSocket(at, { identity: 'worker', token: tokens.worker })
  await once(socket, 'secureConnect')
  assert.deepEqual(
    [socket.getProtocol(), socket.getCipher().name],
    ['TLSv1.2', 'ECDHE-PSK-CHACHA20-POLY1305'],
  )
  const call = request({ path: '/', createConnection: () => socket }).end()
  const [response] = await once(call, 'response')
  assert.equal(Buffer.concat(await response.toArray()).toString(), 'inside')
})

test('a wrong token is refused with the reason on both sides, and so is the token of another role', {
  timeout,
}, async (t) => {
  for (const secret of [
    { identity: 'worker', token: tokens.operator },
    { identity: 'worker', token: tokens.front },
    { identity: 'front', token: tokens.worker },
  ]) {
    const { at, refused } = await useServer(t)
    assert.equal(await failureOf(at, secret), 'the token is wrong')
    assert.deepEqual(await refused, ['127.0.0.1', 'the token is wrong'])
  }
})

test('an unknown role is refused with the reason on both sides', { timeout }, async (t) => {
  const { at, refused } = await useServer(t)
  assert.equal(await failureOf(at, { identity: 'operator', token: tokens.operator }), 'the role is unknown')
  assert.deepEqual(await refused, ['127.0.0.1', 'the role is unknown'])
})

test('a client sends nothing to a server that does not know its token', { timeout }, async (t) => {
  const { at, http } = await useServer(t)
  let connections = 0
  http.on('connection', () => connections++)
  const socket = secureSocket(at, { identity: 'worker', token: tokens.operator })
  socket.write('POST / HTTP/1.1\r\nhost: x\r\nauthorization: Bearer secret\r\n\r\n')
  await once(socket, 'error')
  assert.equal(connections, 0)
})

test('a plain HTTP request is answered with what to do', { timeout }, async (t) => {
  const { at, refused } = await useServer(t)
  const answer = await fetch(`http://127.0.0.1:${at.port}/`, { method: 'POST', body: 'x'.repeat(100_000) })
  assert.deepEqual(
    [answer.status, await answer.text()],
    [400, 'this port requires TLS: join with tls:// in place of http://\n'],
  )
  assert.deepEqual(await refused, ['127.0.0.1', 'it does not use TLS'])
})

test('a port without TLS, and a client without the key, are told apart', { timeout }, async (t) => {
  const plain = createServer().listen(0, '127.0.0.1')
  await once(plain, 'listening')
  t.after(() => plain.close())
  const { port } = plain.address() as AddressInfo
  const secret = { identity: 'worker', token: tokens.worker }
  assert.equal(await failureOf({ host: '127.0.0.1', port }, secret), 'it does not use TLS')
  const { at, refused } = await useServer(t)
  const browser = connectTls({ ...at, rejectUnauthorized: false })
  await once(browser, 'error')
  assert.deepEqual(await refused, ['127.0.0.1', 'it uses TLS without the key of a cluster'])
})

test('connections that do not complete their handshake are closed', {
  timeout,
}, async (t) => {
  const { at } = await useServer(t, { handshakeMs: 50 })
  const silent = connect(at.port, at.host)
  const half = connect(at.port, at.host)
  half.write(Buffer.from([0x16, 0x03, 0x01]))
  for (const socket of [silent, half]) socket.on('error', () => {}).resume()
  await Promise.all([once(silent, 'close'), once(half, 'close')])
})

test('silent connections are limited in number and do not keep out a peer with the token', {
  timeout,
}, async (t) => {
  const { at, close } = await useServer(t, { mostPending: 2 })
  const silent = Array.from({ length: 4 }, () => connect(at.port, at.host).on('error', () => {}))
  const closed = silent.map(closing)
  await Promise.all(silent.map((socket) => once(socket, 'connect')))
  const peer = secureSocket(at, { identity: 'worker', token: tokens.worker })
  await once(peer, 'secureConnect')
  peer.destroy()
  await Promise.all(closed.slice(0, 3))
  close()
  await closed[3]
})

test('a client without TLS that goes on sending is disconnected', { timeout }, async (t) => {
  const { at } = await useServer(t)
  const socket = connect({ ...at, allowHalfOpen: true }).on('error', () => {})
  const closed = closing(socket)
  const sending = setInterval(() => socket.write('x'), 50)
  t.after(() => clearInterval(sending))
  await closed
})

test('a client gives up on a server that does not answer', { timeout }, async (t) => {
  const silent = createNetServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.after(() => silent.close())
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { port } = silent.address() as AddressInfo
  const socket = secureSocket({ host: '127.0.0.1', port }, { identity: 'worker', token: tokens.worker })
  await once(socket, 'connect')
  const failed = once(socket, 'error')
  t.mock.timers.tick(10_000)
  const [error] = await failed
  assert.match(error.message, /no TLS handshake within 10 s/)
})
