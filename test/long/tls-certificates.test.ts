/** Certificates are replaced while clients use the cluster. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { Agent, request } from 'node:https'
import test from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { Certificates, checkCertificates } from '../../src/front/tls/certificates.ts'
import { certificateFolder, newCertificate, type TestCertificate } from '../support/certificates.ts'
import { type Live, startLive, stopLive, until } from '../support/live.ts'

/** Between requests. The files are checked each second; until then a load without pauses only costs CPU. */
const pauseMs = 10
const one = newCertificate('one.example')
const two = newCertificate('two.example')
const both = one.cert + two.cert

/** The name in the certificate that a new connection gets. */
async function served(live: Live, servername = 'one.example'): Promise<string> {
  const { port } = new URL(live.url)
  const socket = connectTls({
    port: Number(port),
    servername,
    ca: both,
    checkServerIdentity: () => undefined,
  })
  await once(socket, 'secureConnect')
  const { subject } = socket.getPeerCertificate()
  socket.destroy()
  await delay(pauseMs)
  return String(subject.CN)
}

/** Sends requests one after another until the signal; returns how many. Rejects with the first error. */
async function askOverHttp2(live: Live, signal: AbortSignal, perSession: number): Promise<number> {
  let count = 0
  while (!signal.aborted) {
    const session = connectHttp2(live.url, { ca: both, checkServerIdentity: () => undefined })
    for (let i = 0; i < perSession && !signal.aborted; i++) {
      const stream = session.request({ ':path': '/strict?n=21' })
      const body = Buffer.concat(await stream.toArray()).toString()
      assert.equal(body, '42')
      count++
      await delay(pauseMs)
    }
    session.close()
    await once(session, 'close')
  }
  return count
}

async function askOverHttp1(live: Live, signal: AbortSignal, keepAlive: boolean): Promise<number> {
  const agent = new Agent({ keepAlive, maxSockets: 1 })
  let count = 0
  while (!signal.aborted) {
    const options = { ca: both, agent, checkServerIdentity: () => undefined }
    const call = request(`${live.url}/strict?n=21`, options).end()
    const [answer] = (await once(call, 'response')) as [IncomingMessage]
    assert.equal(Buffer.concat(await answer.toArray()).toString(), '42')
    count++
    await delay(pauseMs)
  }
  agent.destroy()
  return count
}

test('certificates are replaced under load without an error', async (t) => {
  const folder = certificateFolder(one)
  const live = await startLive({ queue: 100, frontLimits: { tls: folder.files } })
  t.after(() => stopLive(live))
  const stop = new AbortController()
  const { signal } = stop
  const load = [
    askOverHttp2(live, signal, Infinity),
    askOverHttp2(live, signal, 2),
    askOverHttp1(live, signal, true),
    askOverHttp1(live, signal, false),
  ]
  const failed = Promise.race(load)
  const replaced = async () => {
    for (const [next, name] of [
      [two, 'two.example'],
      [one, 'one.example'],
    ] as [TestCertificate, string][]) {
      folder.write(next)
      let now = ''
      while (now !== name) now = await served(live)
    }
  }
  // A client that fails ends the race with its error.
  await Promise.race([replaced(), failed])
  stop.abort()
  for (const count of await Promise.all(load)) assert.ok(count > 0)
  assert.equal(
    live.lines.filter((line) => line.startsWith('tls: the certificates were read again')).length,
    2,
  )
})

test('invalid new files are logged, and the old certificates stay in use', () => {
  const folder = certificateFolder(one)
  const { files } = folder
  const [certFile = '', keyFile = ''] = [files.certs[0], files.keys[0]]
  const lines: string[] = []
  const certificates = new Certificates({ files, log: (line) => lines.push(line), everyMs: 2 ** 30 })
  let changes = 0
  certificates.onChange(() => changes++)
  const look = () => {
    certificates.look()
    certificates.look()
  }
  look()
  writeFileSync(certFile, two.cert)
  certificates.look()
  assert.deepEqual(lines, [], 'the key may follow')
  look()
  assert.match(lines.join(), /^tls: the new certificates are not used: --tls-key = .*does not belong/)
  look()
  assert.equal(lines.length, 1)
  writeFileSync(certFile, 'garbage')
  look()
  assert.match(lines[1]!, /--tls-cert = .*cannot be used/)
  assert.equal(String(certificates.options().cert), one.cert)
  assert.equal(changes, 0)
  writeFileSync(certFile, two.cert)
  writeFileSync(keyFile, two.key)
  look()
  assert.equal(changes, 1)
  assert.equal(String(certificates.options().cert), two.cert)
  assert.match(lines[2]!, /^tls: the certificates were read again; valid until /)
  certificates.close()
})

test('several certificates are chosen by the name that the client asks for', async (t) => {
  const [first, second] = [certificateFolder(one), certificateFolder(two)]
  const tls = {
    certs: [...first.files.certs, ...second.files.certs],
    keys: [...first.files.keys, ...second.files.keys],
  }
  const live = await startLive({ min: 0, frontLimits: { tls } })
  t.after(() => stopLive(live))
  assert.equal(await served(live, 'one.example'), 'one.example')
  assert.equal(await served(live, 'two.example'), 'two.example')
  assert.equal(await served(live, 'three.example'), 'one.example')
  second.write(newCertificate('two.example', 'three.example'))
  let now = ''
  while (now !== 'ok') {
    const { port } = new URL(live.url)
    const socket = connectTls({ port: Number(port), servername: 'three.example', rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    if (socket.getPeerCertificate().subject.CN === 'two.example') now = 'ok'
    socket.destroy()
    await delay(pauseMs)
  }
})

test('files that cannot be used are named', () => {
  const { files } = certificateFolder(one)
  const check = (certs: readonly string[], keys: readonly string[]) => () =>
    checkCertificates({ certs, keys })
  assert.throws(check(['/none.pem'], files.keys), {
    code: 'CONFIG',
    message: '--tls-cert = /none.pem: does not exist',
  })
  assert.throws(check(files.certs, []), /must name the same number of files, not 1 and 0/)
  assert.throws(check(files.certs, files.certs), /--tls-key = .*cannot be used/)
  assert.throws(
    check(files.certs, certificateFolder(two).files.keys),
    /does not belong to the certificate in/,
  )
})

test('a client of TLS 1.1 is refused, and the reason logged', async (t) => {
  const live = await startLive({ min: 0, frontLimits: { tls: certificateFolder(one).files } })
  t.after(() => stopLive(live))
  const { port } = new URL(live.url)
  const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  const socket = connectTls({ port: Number(port), ...old, rejectUnauthorized: false })
  await assert.rejects(once(socket, 'secureConnect'))
  await until(() => live.lines.some((line) => line.includes('it does not speak TLS 1.2')), 'it is logged')
})
