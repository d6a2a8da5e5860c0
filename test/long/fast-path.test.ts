/** Requests on kept connections get the same bytes with and without the fast path, over plain connections and TLS. */

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { certificateFolder, newCertificate } from '../support/certificates.ts'
import { ask, comparable, patient, startServer } from '../support/direct.ts'
import { KeptClient } from '../support/kept-client.ts'
import { startUp, type Up } from '../support/up.ts'

const limit = { timeout: 300_000 }

/** What a client of each server gets for these paths. */
async function compare(
  t: TestContext,
  start: (...args: string[]) => Promise<Up>,
  paths: readonly string[],
  cert?: string,
): Promise<void> {
  const seen: unknown[][] = []
  for (const setting of ['on', 'off']) {
    const up = await start(...patient, '--fast-path', setting)
    const client = new KeptClient(up, cert)
    t.after(() => client.close())
    const answers: unknown[] = []
    for (const path of paths) {
      for (const method of ['GET', 'HEAD']) {
        const { head, body } = await client.askDirectly(path, method)
        answers.push({ method, path, ...comparable({ head, body, isDirect: true }) })
      }
    }
    seen.push(answers)
  }
  assert.deepEqual(seen[0], seen[1])
}

const paths = ['/small', '/empty', '/same', '/missing', '/fault', '/zero', '/chunks', '/medium', '/headers']

test('answers of programs are the same', limit, (t) =>
  compare(t, (...args) => startServer(t, ...args), paths),
)

test('answers of programs over TLS are the same', limit, async (t) => {
  const certificate = newCertificate('localhost')
  const { files } = certificateFolder(certificate)
  const tls = ['--tls-cert', files.certs[0]!, '--tls-key', files.keys[0]!]
  await compare(t, (...args) => startServer(t, ...args, ...tls), ['/small', '/medium'], certificate.cert)
})

test('a request to a workload that offers another protocol is served as a plain one', limit, async (t) => {
  const up = await startUp(t, ...patient)
  for (const protocol of ['h2c', 'websocket']) {
    const lines = `upgrade: ${protocol}\r\nconnection: upgrade\r\n`
    const { head, body } = await ask(up, '/strict?n=21', lines)
    assert.match(head, /^HTTP\/1.1 200 /)
    assert.equal(body, '42')
  }
})

test('answers of workloads are the same', limit, (t) =>
  compare(t, (...args) => startUp(t, ...args), ['/strict?n=21', '/strict?n=0']),
)
