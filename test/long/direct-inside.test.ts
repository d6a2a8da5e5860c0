/** The direct path of a front in the brain's process, as programs that use the library have it. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { createCluster } from '../../src/library/cluster.ts'
import { bearer } from '../../src/wire/token.ts'
import { until } from '../support/live.ts'

const limit = { timeout: 300_000 }
/** No request is slow, not even on a busy machine. */
const patient = { directBelow: 1_000 }

/** Asks until a request is answered directly. */
async function askDirectly(url: string): Promise<{ job: string; body: string }> {
  let [job, body] = ['', '']
  const by = performance.now() + 120_000
  while (!job.endsWith('-d')) {
    const answer = await fetch(url)
    assert.equal(answer.status, 200)
    ;[job, body] = [answer.headers.get('plimsoll-job') ?? '', await answer.text()]
    assert.ok(performance.now() < by, 'no request is answered directly')
  }
  return { job, body }
}

const moduleOf = (value: number) => `
  import { defineWorkload } from ${JSON.stringify(join(import.meta.dirname, '..', '..', 'src', 'workload', 'workload.ts'))}
  export default defineWorkload({ name: 'value', description: 'A value', run: () => ${value} })
`

test('small requests to workloads are sent directly, also those to a new version', limit, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-inside-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'value.mts')
  writeFileSync(file, moduleOf(1))
  await using cluster = await createCluster({ workloads: file, ...patient, min: 1, max: 1 })
  const { url, adminUrl } = cluster
  const { job, body } = await askDirectly(`${url}/value`)
  assert.equal(body, '1')
  await until(() => cluster.state().direct.answered > 0, 'it is counted')
  const why = await (await fetch(`${adminUrl}/api/jobs/${job}/why`)).text()
  assert.match(why, /urn:plimsoll:not-recorded/)
  writeFileSync(file, moduleOf(2))
  const headers = { 'content-type': 'application/json', authorization: bearer(cluster.tokens.operator) }
  const restart = { method: 'POST', headers, body: '{"fronts":true,"workers":true}' }
  assert.match(await (await fetch(`${adminUrl}/api/restart`, restart)).text(), /\{"done":true\}\n$/)
  assert.equal((await askDirectly(`${url}/value`)).body, '2')
})

test('small requests to an existing server are sent directly', limit, async (t) => {
  const program = createServer((_, response) => response.end('hello'))
  await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve))
  t.after(() => program.close())
  const { port } = program.address() as AddressInfo
  await using cluster = await createCluster({
    upstreams: [`http://127.0.0.1:${port}`],
    concurrency: 8,
    ...patient,
  })
  assert.equal((await askDirectly(cluster.url)).body, 'hello')
  assert.deepEqual(cluster.state().direct.names, ['server'])
})
