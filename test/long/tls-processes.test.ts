/** TLS with `plimsoll up`: all fronts have the same certificates, and are replaced without an error for HTTP/2 clients. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { request } from 'node:https'
import test, { type TestContext } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { certificateFolder, newCertificate } from '../support/certificates.ts'
import { startFront } from '../support/front-processes.ts'
import { until, useLive } from '../support/live.ts'
import { startUp } from '../support/up.ts'

const one = newCertificate('one.example')
const two = newCertificate('two.example')
const trusted = { ca: one.cert + two.cert, checkServerIdentity: () => undefined }
const slow = { timeout: 180_000 }

function open(t: TestContext, url: string): ClientHttp2Session {
  const session = connect(url, trusted)
  session.on('error', () => {})
  t.after(() => session.destroy())
  return session
}

async function get(session: ClientHttp2Session, path: string): Promise<string> {
  return Buffer.concat(await session.request({ ':path': path }).toArray()).toString()
}

async function served(url: string): Promise<string> {
  const { port } = new URL(url)
  const socket = connectTls({ port: Number(port), servername: 'x.example', ...trusted })
  await once(socket, 'secureConnect')
  const { subject } = socket.getPeerCertificate()
  socket.destroy()
  return String(subject.CN)
}

test(
  'all fronts of `up` read new certificates, and one that is replaced finishes its streams',
  slow,
  async (t) => {
    const folder = certificateFolder(one)
    const [cert = '', key = ''] = [folder.files.certs[0], folder.files.keys[0]]
    const up = await startUp(t, '--tls-cert', cert, '--tls-key', key, '--fronts', '2')
    assert.match(up.url, /^https:/)
    const session = open(t, up.url)
    assert.equal(await get(session, '/strict?n=4'), '8')

    folder.write(two)
    const again = () => up.lines.filter((line) => line.includes('the certificates were read again'))
    await until(() => again().length === 2, 'both fronts have read them')
    for (let i = 0; i < 10; i++) assert.equal(await served(up.url), 'two.example')
    assert.equal(await get(session, '/strict?n=5'), '10')

    const held = get(session, '/gated?gate=g')
    await new Promise<void>((resolve) => {
      const poll = () =>
        void up.state().then(({ jobs }) => (jobs === 1 ? resolve() : void setTimeout(poll, 10)))
      poll()
    })
    const gone = once(session, 'close')
    await up.roll()
    up.open('g')
    assert.equal(await held, 'opened')
    const next = open(t, up.url)
    assert.equal(await get(next, '/strict?n=6'), '12')
    await gone

    // A brain is restarted whatever the files are.
    folder.write({ cert: 'garbage', key: two.key })
    process.kill(up.brain(), 'SIGKILL')
    assert.equal(await get(next, '/strict?n=7'), '14')
    next.close()
  },
)

test('a certificate that cannot be used ends `up` with an explanation', slow, async (t) => {
  const { files } = certificateFolder(one)
  const [cert = '', key = ''] = [files.certs[0], certificateFolder(two).files.keys[0]]
  await assert.rejects(startUp(t, '--tls-cert', cert, '--tls-key', key), /--tls-key = .*does not belong to/)
  await assert.rejects(startUp(t, '--tls-cert', cert), /--tls-cert = .*: requires --tls-key/)
})

const live = useLive()

test('a front that joins has certificates of its own', slow, async (t) => {
  const { files } = certificateFolder(one)
  const [cert = '', key = ''] = [files.certs[0], files.keys[0]]
  const front = await startFront(t, live, '--tls-cert', cert, '--tls-key', key)
  assert.match(front.url, /^https:/)
  assert.equal(await get(open(t, front.url), '/strict?n=4'), '8')
  const call = request(`${front.url}/strict?n=4`, trusted).end()
  const [answer] = await once(call, 'response')
  assert.equal(Buffer.concat(await answer.toArray()).toString(), '8')
  assert.equal(live.state().fronts.at(-1)?.url, front.url)
})
