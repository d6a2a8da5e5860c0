/** TLS on the admin port: programs of other machines must use it, those of this machine may. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, request as plainRequest } from 'node:http'
import { request } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import test from 'node:test'
import { connect as connectTls } from 'node:tls'
import { tlsListener } from '../../src/admin/listener.ts'
import { setPeer } from '../../src/front/tls/below.ts'
import { Certificates } from '../../src/front/tls/certificates.ts'
import { bearer } from '../../src/wire/token.ts'
import { certificateFolder, newCertificate } from '../support/certificates.ts'
import { assertWell, cli, startLive, stopLive, until } from '../support/live.ts'

const one = newCertificate('one.example')
const two = newCertificate('two.example')

async function ask(url: string, headers: Record<string, string> = {}, method = 'GET', body = '') {
  const send = url.startsWith('https:') ? request : plainRequest
  const call = send(url, { ca: one.cert + two.cert, method, headers, agent: false }).end(body)
  const [answer] = await once(call, 'response')
  return { status: answer.statusCode as number, body: Buffer.concat(await answer.toArray()).toString() }
}

test('operators use https, workers of this machine join as before, and a renewed certificate is used', async (t) => {
  const folder = certificateFolder(one)
  const live = await startLive({ adminTls: folder.files })
  t.after(() => stopLive(live))
  assert.match(live.adminUrl, /^https:/)
  // Its worker has joined.
  await assertWell(live)
  assert.equal((await ask(`${live.adminUrl}/api/state`)).status, 200)
  assert.equal((await ask(`${live.adminUrl.replace('https', 'http')}/api/state`)).status, 200)
  const json = { 'content-type': 'application/json', authorization: bearer(live.tokens.operator) }
  const restart = await ask(`${live.adminUrl}/api/restart`, json, 'POST', '{"fronts":true,"workers":true}')
  assert.match(restart.body, /\{"done":true\}\n$/)
  const status = await new Promise<string>((resolve) => {
    const file = folder.files.certs[0]!
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: file }
    const args = [cli, 'status', '--admin', live.adminUrl]
    execFile(process.execPath, args, { env }, (_, stdout, stderr) => resolve(stdout + stderr))
  })
  assert.match(status, /1 worker ready/)

  folder.write(two)
  await until(
    () => live.lines.some((line) => /^admin-tls: the certificates were read again/.test(line)),
    'they are',
  )
  const { hostname: host, port } = new URL(live.adminUrl)
  const socket = connectTls({ host, port: Number(port), ca: two.cert, servername: 'two.example' })
  await once(socket, 'secureConnect')
  assert.equal(socket.getPeerCertificate().subject.CN, 'two.example')
  socket.destroy()
})

test('plain HTTP of another machine is refused with a reason, and silent connections make room', async (t) => {
  const refusals: string[] = []
  const certificates = new Certificates({ ...certificateFolder(one), port: 'admin-tls', log() {} })
  const http = createServer((_, response) => response.end('served'))
  const admin = tlsListener(http, {
    certificates,
    refused: (address, why) => refusals.push(`${address}: ${why}`),
  })
  let isElsewhere = true
  admin.listener.prependListener('connection', (socket) => {
    if (isElsewhere) setPeer(socket, { remoteAddress: '10.0.0.9', remotePort: 1 })
  })
  t.after(() => admin.close())
  await new Promise<void>((resolve) => admin.listener.listen(0, '127.0.0.1', resolve))
  const { port } = admin.listener.address() as AddressInfo
  const plain = await ask(`http://127.0.0.1:${port}/`)
  assert.deepEqual(
    [plain.status, plain.body],
    [400, 'This port speaks https: use https:// in place of http://\n'],
  )
  assert.deepEqual(refusals, ['10.0.0.9: it does not use TLS'])
  assert.equal((await ask(`https://127.0.0.1:${port}/`)).body, 'served')
  isElsewhere = false
  assert.equal((await ask(`http://127.0.0.1:${port}/`)).body, 'served')

  const silent = Array.from({ length: 257 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  await Promise.all(silent.map((socket) => once(socket, 'connect')))
  await once(silent[0]!, 'close')
  assert.equal((await ask(`https://127.0.0.1:${port}/`)).body, 'served')
  for (const socket of silent) socket.destroy()
})

test('files that cannot be used are refused at the start; a brain that is restarted goes on without them', async (t) => {
  const folder = certificateFolder(one)
  const [key = ''] = folder.files.keys
  writeFileSync(key, two.key)
  await assert.rejects(startLive({ adminTls: folder.files }), {
    code: 'CONFIG',
    message: /^--admin-tls-key = .*: does not belong to the certificate in /,
  })
  const lines: string[] = []
  const parts = { ...folder, port: 'admin-tls' as const, log: (line: string) => lines.push(line) }
  assert.throws(() => new Certificates(parts))
  const certificates = new Certificates({ ...parts, lenient: true })
  t.after(() => certificates.close())
  assert.match(lines[0]!, /^admin-tls: no handshake is possible: --admin-tls-key = /)
  assert.equal(certificates.options().cert, undefined)
  writeFileSync(key, one.key)
  certificates.look()
  certificates.look()
  assert.equal(String(certificates.options().cert), one.cert)
})
