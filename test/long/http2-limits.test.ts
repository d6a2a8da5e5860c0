/** HTTP/2 clients that read slowly, send slowly, or flood a connection; workloads are served. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import test, { type TestContext } from 'node:test'
import { connect as connectTls } from 'node:tls'
import type { FrontLimits } from '../../src/wire/front-settings.ts'
import { certificateFolder, newCertificate } from '../support/certificates.ts'
import { keptAnswers } from '../support/kept-answers.ts'
import { type Live, startLive, stopLive, until, untilIdle } from '../support/live.ts'

const certificate = newCertificate('localhost')
const { files: tls } = certificateFolder(certificate)

async function liveWith(t: TestContext, limits: Partial<FrontLimits> = {}): Promise<Live> {
  const live = await startLive({ slots: 2, queue: 2000, frontLimits: { tls, ...limits } })
  t.after(() => stopLive(live))
  return live
}

function open(t: TestContext, live: Live, settings = {}): ClientHttp2Session {
  const session = connect(live.url, { ca: certificate.cert, settings })
  session.on('error', () => {})
  t.after(() => session.destroy())
  return session
}

async function textOf(stream: ClientHttp2Stream): Promise<string> {
  return Buffer.concat(await stream.toArray()).toString()
}

async function bytesOf(stream: ClientHttp2Stream): Promise<number> {
  let bytes = 0
  for await (const chunk of stream) bytes += (chunk as Buffer).length
  return bytes
}

test('workloads answer over HTTP/2: parameters, bodies, long answers, problems', async (t) => {
  const session = open(t, await liveWith(t))
  assert.equal(await textOf(session.request({ ':path': '/strict?n=21' })), '42')
  const upload = session.request({ ':path': '/mirror', ':method': 'POST' })
  upload.end(Buffer.alloc(1_000_000, 'x'))
  assert.equal((await textOf(upload)).length, 1_000_000)
  assert.equal(await bytesOf(session.request({ ':path': '/flood?mb=4' })), 4 * 1024 * 1024)
  const wrong = session.request({ ':path': '/none' })
  const [headers] = await once(wrong, 'response')
  assert.equal(headers[':status'], 404)
  assert.equal(headers['content-type'], 'application/problem+json')
  assert.match(await textOf(wrong), /There is no workload at/)
  const announced = session.request({ ':path': '/strict?n=1', 'plimsoll-announce': 'job' })
  const [hints] = await once(announced, 'headers')
  assert.equal(hints[':status'], 103)
  assert.ok(hints['plimsoll-job'])
  assert.equal(await textOf(announced), '2')
})

test('100 Continue is sent before the body, and a body that is too large is refused at once', async (t) => {
  const session = open(t, await liveWith(t, { maxBytes: 1000 }))
  const waiting = { ':path': '/mirror', ':method': 'POST', expect: '100-continue' }
  const good = session.request(waiting, { endStream: false })
  await once(good, 'continue')
  good.end('body')
  assert.equal(await textOf(good), 'body')
  const large = session.request({ ...waiting, 'content-length': '5000' }, { endStream: false })
  large.on('error', () => {})
  const [refused] = await once(large, 'response')
  assert.equal(refused[':status'], 413)
  assert.match(await textOf(large), /larger than the 1000 bytes/)
  const endless = session.request({ ':path': '/mirror', ':method': 'POST' }, { endStream: false })
  endless.on('error', () => {})
  endless.write(Buffer.alloc(5000))
  const [late] = await once(endless, 'response')
  assert.equal(late[':status'], 413)
  assert.match(await textOf(endless), /larger than the 1000 bytes/)
  assert.equal(await textOf(session.request({ ':path': '/strict?n=2' })), '4')
})

test('slow readers of one connection hold no slot, and other streams of it are served', async (t) => {
  const live = await liveWith(t)
  const session = open(t, live, { initialWindowSize: 64 * 1024 })
  session.on('connect', () => session.setLocalWindowSize(64 * 1024 * 1024))
  const slow = Array.from({ length: 4 }, () => session.request({ ':path': '/flood?mb=24' }))
  await Promise.all(slow.map((stream) => once(stream, 'response')))
  await untilIdle(live)
  assert.equal(await textOf(session.request({ ':path': '/strict?n=21' })), '42')
  for (const bytes of await Promise.all(slow.map(bytesOf))) assert.equal(bytes, 24 * 1024 * 1024)
})

test('a stream that is not read is ended, and its connection stays', async (t) => {
  const live = await liveWith(t, { stallMs: 50 })
  const session = open(t, live)
  session.on('connect', () => session.setLocalWindowSize(64 * 1024 * 1024))
  const stream = session.request({ ':path': '/flood?mb=24' })
  stream.on('error', () => {})
  await once(stream, 'response')
  stream.pause()
  await new Promise((resolve) => stream.once('close', resolve))
  assert.equal(stream.rstCode, 2)
  assert.equal(await textOf(session.request({ ':path': '/strict?n=21' })), '42')
})

test('a client of HTTP/1.1 over TLS that does not read is disconnected', async (t) => {
  // What it does not read goes to a file, which is open as long as its connection.
  const live = await liveWith(t, { stallMs: 50, answerMemoryBytes: 0 })
  const { port } = new URL(live.url)
  const socket = connectTls({ port: Number(port), ca: certificate.cert, ALPNProtocols: ['http/1.1'] })
  socket.on('error', () => {})
  t.after(() => socket.destroy())
  socket.write('GET /flood?mb=24 HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(socket, 'readable')
  await until(() => live.state().jobs === 0, 'the answer is complete')
  await until(() => keptAnswers().length === 0, 'the connection is closed')
  let bytes = 0
  socket.on('data', (chunk) => {
    bytes += chunk.length
  })
  await new Promise((resolve) => socket.once('close', resolve).resume())
  assert.ok(bytes < 24 * 1024 * 1024, `${bytes} bytes arrived`)
})

test('a body that arrives too slowly is refused, even while others arrive on its connection', async (t) => {
  const live = await liveWith(t, { requestMs: 300 })
  const session = open(t, live)
  const stream = session.request({ ':path': '/mirror', ':method': 'POST' }, { endStream: false })
  stream.on('error', () => {})
  stream.write('some')
  const [headers] = await once(stream, 'response')
  assert.equal(headers[':status'], 408)
  await textOf(stream)
  assert.equal(await textOf(session.request({ ':path': '/strict?n=21' })), '42')
})

test('a client that starts and resets requests forever is disconnected', async (t) => {
  const live = await liveWith(t)
  const session = open(t, live)
  await once(session, 'remoteSettings')
  let sent = 0
  while (!session.destroyed && sent < 20_000) {
    const stream = session.request({ ':path': '/strict?n=21' })
    stream.on('error', () => {})
    // The request leaves first.
    await new Promise((resolve) => setImmediate(resolve))
    stream.close(8)
    sent++
  }
  assert.ok(session.destroyed, `${sent} resets were accepted`)
  await untilIdle(live)
  assert.equal(await textOf(open(t, live).request({ ':path': '/strict?n=21' })), '42')
})

test('a client that sends pings forever is disconnected', async (t) => {
  const live = await liveWith(t)
  const session = connect(live.url, { ca: certificate.cert, maxOutstandingPings: 100_000 })
  session.on('error', () => {})
  await once(session, 'remoteSettings')
  const closed = new Promise((resolve) => session.once('close', resolve))
  for (let sent = 0; sent < 20_000; sent++) session.ping(() => {})
  await closed
  await until(
    () => live.lines.some((line) => line.includes('it sent too many HTTP/2 control frames')),
    'it is logged',
  )
})

test('a cluster that stops finishes the requests of a connection and then closes it', async (t) => {
  const live = await liveWith(t)
  const session = open(t, live)
  const upload = session.request({ ':path': '/mirror', ':method': 'POST' }, { endStream: false })
  upload.write('first ')
  await once(session, 'remoteSettings')
  const answered = textOf(session.request({ ':path': '/strict?n=21' }))
  assert.equal(await answered, '42')
  const closed = once(session, 'close')
  upload.end('last')
  assert.equal(await textOf(upload), 'first last')
  await live.stop(10_000)
  await closed
})
