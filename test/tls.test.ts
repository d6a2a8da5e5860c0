/** TLS and HTTP/2 on the public port, in front of an existing server. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { type ClientHttp2Session, connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2'
import { request } from 'node:https'
import type { Duplex } from 'node:stream'
import test from 'node:test'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { certificateFolder, newCertificate } from './support/certificates.ts'
import { dial, readAll, readUntil, until, untilIdle } from './support/live.ts'
import { useOwn } from './support/own-live.ts'

const first = newCertificate('localhost')
const folder = certificateFolder(first)
const long = Buffer.alloc(3 * 1024 * 1024, 'long ')

const own = useOwn(
  async (incoming, response) => {
    const { url = '', method, headers } = incoming
    if (url === '/long') return void response.end(long)
    if (url === '/broken') {
      response.writeHead(200, { 'content-length': '1000000' })
      response.write(Buffer.alloc(500_000))
      return void setImmediate(() => response.destroy())
    }
    if (url === '/trailers') {
      response.writeHead(200, { trailer: 'x-sum', 'set-cookie': ['a=1', 'b=2'] })
      response.write('text')
      response.addTrailers({ 'x-sum': '12' })
      return void response.end()
    }
    if (url === '/never') return
    const body = Buffer.concat(await incoming.toArray())
    const seen = { url, method, headers, body: body.toString('latin1'), trailers: incoming.trailers }
    response.writeHead(url === '/none' ? 204 : 200, { 'content-type': 'application/json', 'x-odd': 'ä' })
    response.end(url === '/none' ? undefined : JSON.stringify(seen))
  },
  {},
  { frontLimits: { tls: folder.files } },
)

own.program.on('upgrade', (incoming: IncomingMessage, socket: Duplex) => {
  socket.on('error', () => socket.destroy())
  const { upgrade, 'sec-websocket-key': key, 'sec-websocket-version': version } = incoming.headers
  if (incoming.url === '/refuse') {
    socket.end('HTTP/1.1 426 Upgrade Required\r\ncontent-length: 15\r\n\r\nanother, please')
    return
  }
  socket.write(
    `HTTP/1.1 101 Fine\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\nSec-WebSocket-Accept: ${key}\r\n` +
      `x-version: ${version}\r\n\r\nhello `,
  )
  socket.pipe(socket)
})

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  trailers: IncomingHttpHeaders
  body: Buffer
}

function ask(
  session: ClientHttp2Session,
  headers: Record<string, string | string[]>,
  body?: string | Buffer,
): Promise<Answer> {
  const stream = session.request(headers, { endStream: body === undefined })
  if (body !== undefined) stream.end(body)
  return new Promise((resolve, reject) => {
    const answer: Answer = { status: 0, headers: {}, trailers: {}, body: Buffer.alloc(0) }
    const chunks: Buffer[] = []
    stream.on('response', (given) => Object.assign(answer, { status: given[':status'], headers: given }))
    stream.on('trailers', (trailers) => Object.assign(answer, { trailers }))
    stream.on('data', (chunk) => chunks.push(chunk))
    stream.on('error', reject)
    stream.on('close', () => resolve({ ...answer, body: Buffer.concat(chunks) }))
  })
}

async function open(options: object = {}): Promise<ClientHttp2Session & AsyncDisposable> {
  const session = connectHttp2(own.url, { ca: first.cert, ...options })
  await once(session, 'remoteSettings')
  return Object.assign(session, { [Symbol.asyncDispose]: async () => session.destroy() })
}

function dialTls(): TLSSocket {
  const { hostname: host, port } = new URL(own.url)
  const socket = connectTls({ host, port: Number(port), ca: first.cert, ALPNProtocols: ['http/1.1'] })
  return socket.on('error', () => {})
}

test('the cluster is at an https URL', () => assert.match(own.url, /^https:\/\/127\.0\.0\.1:\d+$/))

test('HTTP/1.1 over TLS: the program learns that the client used https', async () => {
  const call = request(`${own.url}/a?b`, { ca: first.cert, method: 'POST' })
  call.end('body')
  const [answer] = (await once(call, 'response')) as [IncomingMessage]
  const seen = JSON.parse(Buffer.concat(await answer.toArray()).toString())
  assert.equal(answer.httpVersion, '1.1')
  assert.equal(seen.headers['x-forwarded-proto'], 'https')
  assert.equal(seen.headers['x-forwarded-for'], '127.0.0.1')
  assert.equal(seen.body, 'body')
})

test('HTTP/1.1 over TLS: an answer that breaks off resets the connection, and malformed requests are refused', async () => {
  const broken = dialTls()
  broken.write('GET /broken HTTP/1.0\r\nHost: x\r\n\r\n')
  broken.resume()
  const [error] = await once(broken, 'error')
  assert.equal(error.code, 'ECONNRESET')
  const malformed = dialTls()
  malformed.write('GET / HTTP/9.9\r\n\r\n')
  assert.match(await readAll(malformed), /^HTTP\/1\.1 400 .*not a well-formed HTTP request/s)
})

test('HTTP/2: head, body and trailers reach the program, and its answer the client', async () => {
  await using session = await open()
  const { status, headers, body } = await ask(
    session,
    { ':path': '/a?b', ':method': 'PUT', cookie: ['a=1', 'b=2'], te: 'trailers', 'x-twice': ['1', '2'] },
    'body',
  )
  assert.equal(status, 200)
  assert.equal(headers['content-type'], 'application/json')
  assert.equal(headers['transfer-encoding'], undefined)
  assert.ok(headers['plimsoll-job'])
  const seen = JSON.parse(body.toString())
  const { host } = new URL(own.url)
  assert.deepEqual([seen.url, seen.method, seen.body], ['/a?b', 'PUT', 'body'])
  assert.equal(seen.headers.host, host)
  assert.equal(seen.headers.cookie, 'a=1; b=2')
  assert.equal(seen.headers['x-twice'], '1, 2')
  assert.equal(seen.headers['x-forwarded-proto'], 'https')
  assert.equal(seen.headers['x-forwarded-host'], host)
  assert.equal(seen.headers.te, undefined)
})

test('HTTP/2: trailers of the request and of the answer', async () => {
  await using session = await open()
  const stream = session.request({ ':path': '/x', ':method': 'POST' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'x-check': 'sum' }))
  stream.end('some')
  const seen = JSON.parse(Buffer.concat(await stream.toArray()).toString())
  assert.deepEqual(seen.trailers, { 'x-check': 'sum' })
  const { headers, trailers, body } = await ask(session, { ':path': '/trailers' })
  assert.equal(body.toString(), 'text')
  assert.deepEqual(headers['set-cookie'], ['a=1', 'b=2'])
  assert.equal(trailers['x-sum'], '12')
})

test('HTTP/2: HEAD and 204 have no body, and many streams share a connection', async () => {
  await using session = await open()
  const head = await ask(session, { ':path': '/a', ':method': 'HEAD' })
  assert.deepEqual([head.status, head.body.length], [200, 0])
  const none = await ask(session, { ':path': '/none' })
  assert.deepEqual([none.status, none.body.length], [204, 0])
  const many = await Promise.all(Array.from({ length: 5 }, (_, i) => ask(session, { ':path': `/${i}` })))
  assert.deepEqual(
    many.map(({ body }) => JSON.parse(body.toString()).url),
    ['/0', '/1', '/2', '/3', '/4'],
  )
})

test('HTTP/2: a long answer arrives whole, and one that breaks off ends its stream with an error', async () => {
  await using session = await open()
  const { body } = await ask(session, { ':path': '/long' })
  assert.ok(body.equals(long))
  await assert.rejects(ask(session, { ':path': '/broken' }), { code: 'ERR_HTTP2_STREAM_ERROR' })
  const { status } = await ask(session, { ':path': '/after' })
  assert.equal(status, 200)
})

test('HTTP/2: a client that resets its stream cancels the job', async () => {
  await using session = await open()
  const before = own.state().counters.cancelled
  const stream = session.request({ ':path': '/never' })
  stream.on('error', () => {})
  await until(() => own.state().placed === 1, 'the job runs')
  stream.close(8)
  await untilIdle(own)
  assert.equal(own.state().counters.cancelled, before + 1)
})

test('HTTP/2: a host that differs from the authority is refused', async () => {
  await using session = await open()
  const { status, body } = await ask(session, {
    ':path': '/x',
    ':authority': 'one.example',
    host: 'other.example',
  })
  assert.equal(status, 400)
  assert.match(body.toString(), /Host, :authority: must be the same/)
})

test('HTTP/2: a head above the limit is refused without an effect on others', async () => {
  await using session = await open({ settings: { maxHeaderListSize: 2 ** 20 } })
  const big = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`x-${i}`, 'y'.repeat(1000)]))
  await assert.rejects(ask(session, { ':path': '/x', ...big }), /NGHTTP2_ENHANCE_YOUR_CALM/)
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`x-${i}`, 'y']))
  await assert.rejects(ask(session, { ':path': '/x', ...many }), /NGHTTP2_ENHANCE_YOUR_CALM/)
  assert.equal((await ask(session, { ':path': '/x' })).status, 200)
})

test('WebSocket over TLS', async () => {
  const socket = dialTls()
  socket.write(
    'GET /chat HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: abc\r\n\r\n',
  )
  assert.match(await readUntil(socket, /hello $/), /^HTTP\/1\.1 101 /)
  socket.write('ping')
  await readUntil(socket, /ping$/)
  socket.end()
  await readAll(socket)
  await untilIdle(own)
})

test('WebSocket over HTTP/2', async () => {
  await using session = await open()
  assert.equal(session.remoteSettings.enableConnectProtocol, true)
  const asked = { ':method': 'CONNECT', ':protocol': 'websocket', 'sec-websocket-version': '13' }
  const stream = session.request({ ...asked, ':path': '/chat' }, { endStream: false })
  const [headers] = await once(stream, 'response')
  assert.equal(headers[':status'], 200)
  assert.equal(headers['x-version'], '13')
  assert.equal(headers['sec-websocket-accept'], undefined)
  stream.setEncoding('latin1')
  let text = ''
  stream.on('data', (chunk) => {
    text += chunk
  })
  stream.write('over two')
  await until(() => text === 'hello over two', 'the program has answered')
  stream.end()
  await once(stream, 'close')
  const refused = session.request({ ...asked, ':path': '/refuse' }, { endStream: false })
  const [other] = await once(refused, 'response')
  assert.equal(other[':status'], 426)
  assert.equal(Buffer.concat(await refused.toArray()).toString(), 'another, please')
  await untilIdle(own)
})

test('plain HTTP is refused with an explanation, and logged', async () => {
  const socket = dial(own)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const text = await readAll(socket)
  assert.match(text, /^HTTP\/1\.1 400 Bad Request\r\n.*\r\n\r\nThis port speaks https/s)
  assert.ok(own.lines.some((line) => /^front: a connection from 127\.0\.0\.1 was refused/.test(line)))
})
