/** Connections through proxies that speak the PROXY protocol, with and without TLS; TLS at a plain port. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { clientsFrom } from '../src/cli/cluster/clients.ts'
import { clusterOptions } from '../src/config/cluster-options.ts'
import { defaultsOf } from '../src/config/option.ts'
import type { FrontLimits } from '../src/wire/front-settings.ts'
import { certificateFolder, newCertificate } from './support/certificates.ts'
import { dial, type Live, readAll, readUntil, startLive, stopLive, until } from './support/live.ts'
import { useOwn } from './support/own-live.ts'

const certificate = newCertificate('localhost')
const { files: tls } = certificateFolder(certificate)
const trusting = { proxyProtocol: true, trustedProxies: ['127.0.0.1'] }

/** Version 2, for a client with this IPv4 address. */
function header(address: string): Buffer {
  const start = Buffer.from('\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c', 'latin1')
  return Buffer.concat([start, Buffer.from(address.split('.').map(Number)), Buffer.alloc(8)])
}

const own = useOwn(
  ({ headers }, response) => void response.end(JSON.stringify(headers)),
  {},
  {
    frontLimits: trusting,
  },
)

const get = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n'

async function headersSeen(socket: Socket, ...parts: (string | Buffer)[]): Promise<Record<string, string>> {
  for (const part of parts) socket.write(part)
  const text = await readAll(socket)
  return JSON.parse(/\r\n\r\n(.*)$/s.exec(text)![1]!)
}

test('the address in the header is that of the client', async () => {
  const seen = await headersSeen(dial(own), header('203.0.113.7'), `${get}\r\n`)
  assert.equal(seen['x-forwarded-for'], '203.0.113.7')
  const inPieces = dial(own)
  for (const byte of header('203.0.113.8')) inPieces.write(Buffer.of(byte))
  assert.equal((await headersSeen(inPieces, `${get}\r\n`))['x-forwarded-for'], '203.0.113.8')
  const line = 'PROXY TCP4 203.0.113.9 10.0.0.1 8080 443\r\n'
  assert.equal((await headersSeen(dial(own), line, `${get}\r\n`))['x-forwarded-for'], '203.0.113.9')
})

test('forwarded headers are believed if the address in the header is that of a trusted proxy', async () => {
  const more = 'X-Forwarded-For: 198.51.100.1\r\nX-Forwarded-Proto: https\r\n\r\n'
  const untrusted = await headersSeen(dial(own), header('203.0.113.7'), get + more)
  assert.equal(untrusted['x-forwarded-for'], '203.0.113.7')
  assert.equal(untrusted['x-forwarded-proto'], 'http')
  const trusted = await headersSeen(dial(own), header('127.0.0.1'), get + more)
  assert.equal(trusted['x-forwarded-for'], '198.51.100.1, 127.0.0.1')
  assert.equal(trusted['x-forwarded-proto'], 'https')
})

test('a proxy that speaks for itself keeps its own address', async () => {
  const local = Buffer.from('\r\n\r\n\0\r\nQUIT\n\x20\0\0\0', 'latin1')
  assert.equal((await headersSeen(dial(own), local, `${get}\r\n`))['x-forwarded-for'], '127.0.0.1')
})

test('a missing or malformed header closes the connection and is logged', async () => {
  for (const bytes of [`${get}\r\n`, 'PROXY NONSENSE\r\n', header('203.0.113.7').fill(0x31, 12, 13)]) {
    const socket = dial(own)
    socket.write(bytes)
    assert.equal(await readAll(socket), '')
  }
  const refused = /^front: a connection from 127\.0\.0\.1 was refused: it sent no PROXY header$/
  assert.ok(own.lines.some((line) => refused.test(line)))
})

test('other clients are served as usual, and their header is not believed', async () => {
  const { port } = new URL(own.url)
  const from = () => createConnection({ port: Number(port), host: '127.0.0.1', localAddress: '127.0.0.3' })
  assert.equal((await headersSeen(from(), `${get}\r\n`))['x-forwarded-for'], '127.0.0.3')
  const forged = from()
  forged.write(header('203.0.113.7'))
  forged.write(`${get}\r\n`)
  assert.match(await readAll(forged), /^HTTP\/1\.1 400 /)
})

async function liveWith(t: TestContext, frontLimits: Partial<FrontLimits>): Promise<Live> {
  const live = await startLive({ min: 0, frontLimits })
  t.after(() => stopLive(live))
  return live
}

test('the header comes before TLS, and limits count the address in it', async (t) => {
  const live = await liveWith(t, { ...trusting, tls, clientConnections: 1 })
  const open = async (address: string) => {
    const socket = dial(live)
    socket.write(header(address))
    const secure = connectTls({ socket, ca: certificate.cert, checkServerIdentity: () => undefined })
    secure.on('error', () => {})
    await new Promise((resolve) => {
      secure.once('secureConnect', resolve)
      socket.once('close', resolve)
    })
    return secure
  }
  const first = await open('203.0.113.7')
  first.write('GET /-/health HTTP/1.1\r\nHost: x\r\n\r\n')
  await readUntil(first, /"ok"/)
  const other = await open('203.0.113.8')
  assert.ok(other.encrypted && !other.destroyed)
  const second = await open('203.0.113.7')
  await until(() => second.destroyed, 'a second connection of the client is closed')
  for (const socket of [first, other]) socket.destroy()
})

test('TLS at a plain port gets an alert, and is logged', async (t) => {
  const live = await liveWith(t, {})
  const { port } = new URL(live.url)
  const socket = connectTls({ port: Number(port), rejectUnauthorized: false })
  await assert.rejects(once(socket, 'secureConnect'), { code: /ALERT_PROTOCOL_VERSION/ })
  const line = 'front: a connection from 127.0.0.1 was refused: it uses TLS, and this port does not'
  assert.ok(live.lines.includes(line))
})

test('the PROXY protocol requires trusted proxies', () => {
  const values = { ...defaultsOf(clusterOptions), proxyProtocol: true }
  assert.throws(
    () => clientsFrom(values, 'off'),
    /^ConfigError: --proxy-protocol: requires --trusted-proxies/,
  )
})
