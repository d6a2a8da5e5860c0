/** Fronts of other machines keep requests: they reach the keeper of the cluster over TLS. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type FrontProcess, startFront } from '../support/front-processes.ts'
import { until } from '../support/processes.ts'
import { startUp, type Up } from '../support/up.ts'

const options = { timeout: 300_000 }
const limitMs = 120_000

interface Job {
  id: string
  state: string
  links: { self: string; result: string; events: string }
}

/** A cluster, and a front that joins it as from another machine. */
async function stand(t: TestContext): Promise<{ up: Up; far: FrontProcess }> {
  const up = await startUp(t, '--join-address', '127.0.0.1:0')
  const joinUrl = /--join (tls:\S+)/.exec(up.lines.join('\n'))![1]!
  const front = readFileSync(join(up.dataDir, 'tokens', 'front'), 'utf8').trim()
  return { up, far: await startFront(t, { adminUrl: joinUrl, tokens: { front } }) }
}

const post = (url: string, headers: Record<string, string>, body?: string) =>
  fetch(url, {
    method: 'POST',
    headers: { connection: 'close', ...headers },
    ...(body !== undefined && { body }),
  })

async function handIn(far: FrontProcess, path: string, body?: string): Promise<Job> {
  const answer = await post(`${far.url}${path}`, { prefer: 'respond-async' }, body)
  const text = await answer.text()
  assert.equal(answer.status, 202, text)
  return JSON.parse(text) as Job
}

const isAnswered = async (url: string) =>
  ((await (await fetch(url)).json().catch(() => ({}))) as Partial<Job>).state === 'answered'

test(
  'a front of another machine keeps requests, shows their jobs and relays their results',
  options,
  async (t) => {
    const { up, far } = await stand(t)
    const job = await handIn(far, '/gated?gate=a')
    for (const { url } of [far, up]) {
      const seen = (await (await fetch(`${url}${job.links.self}`)).json()) as Job
      assert.equal(seen.id, job.id)
    }
    up.open('a')
    await until('it is answered', () => isAnswered(`${far.url}${job.links.self}`), limitMs)
    const result = await fetch(`${far.url}${job.links.result}`)
    assert.deepEqual([result.status, await result.text()], [200, 'opened'])
    const events = await (await fetch(`${far.url}${job.links.events}`)).text()
    assert.match(events, /event: ended/)

    const body = 'x'.repeat(3_000_000)
    const key = { 'idempotency-key': 'one', 'content-type': 'application/octet-stream' }
    const first = await post(`${far.url}/mirror`, key, body)
    assert.deepEqual([first.status, (await first.text()).length], [200, body.length])
    const again = await post(`${up.url}/mirror`, key, body)
    assert.equal(again.headers.get('plimsoll-repeated'), 'true')
    assert.equal((await again.text()).length, body.length)
    const other = await post(`${far.url}/mirror`, key, 'another body')
    assert.equal(other.status, 422)
    await other.body?.cancel()
  },
)

test(
  'a client that waits at a front of another machine gets its answer over the death of the keeper',
  options,
  async (t) => {
    const { up, far } = await stand(t)
    const gone = await handIn(far, '/gated?gate=b')
    const waits = post(`${far.url}/gated?gate=c`, { 'idempotency-key': 'two' })
    await until('both are in the cluster', async () => (await up.state()).jobs === 2, limitMs)
    process.kill(up.keeper()!, 'SIGKILL')
    const told = await waits
    const text = await told.text()
    assert.equal(told.status, 202, text)
    const { id } = JSON.parse(text) as Job
    for (const gate of ['b', 'c']) up.open(gate)
    for (const each of [gone.id, id])
      await until('it is answered', () => isAnswered(`${far.url}/-/jobs/${each}`), limitMs)
    const repeated = await post(`${far.url}/gated?gate=c`, { 'idempotency-key': 'two' })
    assert.deepEqual([repeated.status, await repeated.text()], [200, 'opened'])
  },
)
