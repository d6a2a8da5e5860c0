/** Requests with a body to an existing server: the direct path gives the bytes of the general path, and sends none of them twice. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:http2'
import test from 'node:test'
import { certificateFolder, newCertificate } from '../support/certificates.ts'
import {
  ask,
  askDirectly,
  comparable,
  facts,
  general,
  patient,
  startServer,
  untilFacts,
} from '../support/direct.ts'
import { KeptClient } from '../support/kept-client.ts'
import { until } from '../support/live.ts'
import { isAlive } from '../support/processes.ts'

const limit = { timeout: 300_000 }
const methods = ['POST', 'PUT', 'PATCH', 'DELETE']
const bodies = ['', 'hi', '\xe9\r\n\r\n', 'b'.repeat(20_000)]
const paths = ['/seen', '/echo', '/missing', '/fault', '/empty', '/medium', '/large', '/close', '/headers']
/** Only Node's parser reads the answers. A path takes the general path for a minute after one of them. */
const odd = ['/large-chunks', '/trailers', '/work', '/http10', '/until-closed', '/extension', '/early']

test('answers to requests with a body are the same on both paths', limit, async (t) => {
  const up = await startServer(t, ...patient)
  await askDirectly(up)
  const client = new KeptClient(up)
  t.after(() => client.close())
  for (const method of methods)
    for (const body of bodies) {
      const direct = await client.askDirectly('/echo', method, 'x-b: \xe9\r\n', body)
      const other = await client.ask('/echo', method, `x-b: \xe9\r\n${general}`, body)
      assert.equal(other.isDirect, false)
      assert.deepEqual(comparable(direct), comparable(other), `${method} ${body.length}`)
    }
  // The first request of a connection is read by Node's server.
  for (const path of paths) {
    const lines = 'content-length: 2\r\n'
    const direct = await ask(up, path, lines, 'POST', 'hi')
    const other = await ask(up, path, lines + general, 'POST', 'hi')
    assert.equal(direct.isDirect, true, path)
    assert.deepEqual(comparable(direct), comparable(other), path)
  }
  for (const path of odd) {
    const lines = 'content-length: 2\r\n'
    const tried = await ask(up, path, lines, 'POST', 'hi')
    const other = await ask(up, path, lines + general, 'POST', 'hi')
    assert.deepEqual(comparable(tried), comparable(other), path)
  }
  const { seen } = await facts(up)
  for (const path of odd) assert.equal(seen[path], 2, path)
})

test(
  'a POST whose program is killed is not sent again, and its client learns that its outcome is unknown',
  limit,
  async (t) => {
    const up = await startServer(t, ...patient)
    await askDirectly(up)
    const { pid, seen } = await facts(up)
    const lines = 'content-length: 2\r\n'
    const posts = [lines, lines, lines + general].map((each) =>
      ask(up, '/gated?gate=posts', each, 'POST', 'hi'),
    )
    const put = ask(up, '/gated?gate=posts', lines, 'PUT', 'hi')
    await untilFacts(up, (now) => now.seen['/gated'] === (seen['/gated'] ?? 0) + 4, 'they have arrived')
    process.kill(pid, 'SIGKILL')
    await until(() => !isAlive(pid), 'it is dead')
    writeFileSync(`${up.folder}/posts`, '')
    for (const { head, body } of await Promise.all(posts)) {
      assert.match(head, /^HTTP\/1\.1 502 /)
      assert.match(body, /"type":"urn:plimsoll:outcome-unknown"/)
    }
    const repeated = await put
    assert.match(repeated.head + repeated.body, /200 OK.*opened/s)
    // The new program has seen what may be repeated, and nothing else.
    assert.equal((await facts(up)).seen['/gated'], 1)
  },
)

test('POST requests of HTTP/2 are sent directly, and are the same to the program', limit, async (t) => {
  const certificate = newCertificate('localhost')
  const { files } = certificateFolder(certificate)
  const up = await startServer(t, ...patient, '--tls-cert', files.certs[0]!, '--tls-key', files.keys[0]!)
  const session = connect(up.url, { ca: certificate.cert })
  t.after(() => session.destroy())
  const post = async (path: string, body: string, more = {}) => {
    const head = { ':path': path, ':method': 'POST', 'content-length': body.length, ...more }
    const stream = session.request(head)
    stream.end(body)
    const [given] = (await once(stream, 'response')) as [Record<string, unknown>]
    const text = Buffer.concat(await stream.toArray()).toString('latin1')
    const isDirect = String(given['server-timing']).startsWith('estimate;dur=0.000, queue;dur=0.000,')
    return { text: `${given[':status']} ${text}`, isDirect }
  }
  const by = performance.now() + 120_000
  while (!(await post('/echo', 'hi')).isDirect)
    assert.ok(performance.now() < by, 'no request is sent directly')
  for (const path of ['/echo', '/seen', '/medium', '/trailers'])
    for (const body of ['', 'hi', 'b'.repeat(60_000)]) {
      const [direct, other] = [await post(path, body), await post(path, body, { te: 'trailers' })]
      assert.equal(other.isDirect, false)
      assert.ok(direct.text === other.text, `${path} ${body.length}`)
    }
})
