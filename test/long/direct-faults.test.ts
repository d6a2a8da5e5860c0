/** The direct path when a program, a worker, a front or the brain is replaced, and when requests become slow. */

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { ask, askDirectly, facts, patient, startServer, untilFacts } from '../support/direct.ts'
import { until } from '../support/live.ts'
import { isAlive } from '../support/processes.ts'
import { steadyLoad } from '../support/steady-load.ts'
import { type Up, untilState } from '../support/up.ts'

const limit = { timeout: 300_000 }

test('no request fails when a program, a worker, a front or the brain is replaced', limit, async (t) => {
  const up = await startServer(t, ...patient, '--max', '2')
  await askDirectly(up)
  const load = steadyLoad(`${up.url}/small`, 4, 'small')
  const further = async () => {
    const { answered } = load
    await until(() => load.answered > answered + 50, 'requests are answered')
  }
  await further()

  await t.test('a program is killed, and its requests in progress are repeated', async () => {
    const { pid, seen } = await facts(up)
    const waiting = Array.from({ length: 3 }, () => ask(up, '/gated?gate=killed'))
    await untilFacts(up, (now) => now.seen['/gated'] === (seen['/gated'] ?? 0) + 3, 'they have arrived')
    process.kill(pid, 'SIGKILL')
    await until(() => !isAlive(pid), 'it is dead')
    writeFileSync(join(up.folder, 'killed'), '')
    for (const { head, body } of await Promise.all(waiting)) assert.match(head + body, /200 OK.*opened/s)
    await further()
    assert.deepEqual(load.errors, [])
  })

  await t.test('workers are replaced', async () => {
    await restart(up, { fronts: false, workers: true })
    await further()
    assert.deepEqual(load.errors, [])
    await askDirectly(up)
  })

  await t.test('workers and fronts that are replaced finish long answers', async () => {
    for (const what of ['workers', 'fronts'] as const) {
      await longAnswerDuring(up, what, further)
      assert.deepEqual(load.errors, [])
    }
  })

  await t.test('the front is replaced', async () => {
    await restart(up, { fronts: true, workers: false })
    await further()
    assert.deepEqual(load.errors, [])
    await askDirectly(up)
  })

  await t.test('the brain is killed; direct requests go on without it', async () => {
    const brain = up.brain()
    process.kill(brain, 'SIGKILL')
    await until(() => !isAlive(brain), 'it is dead')
    await further()
    await untilState(up, ({ ready }) => ready > 0, 'the brain is back')
    await further()
    await askDirectly(up)
    assert.deepEqual(load.errors, [])
  })
  await load.stop()
  assert.deepEqual(load.errors, [])
})

/** `further`: resolves when other requests were answered. */
async function longAnswerDuring(
  up: Up & { folder: string },
  what: 'workers' | 'fronts',
  further: () => Promise<void>,
): Promise<void> {
  await askDirectly(up, '/large')
  const begun = (await facts(up)).seen['/gated-long'] ?? 0
  const long = ask(up, `/gated-long?gate=${what}`)
  await untilFacts(up, ({ seen }) => seen['/gated-long'] === begun + 1, 'it has begun')
  const restarted = restart(up, { fronts: what === 'fronts', workers: what === 'workers' })
  if (what === 'workers') await untilState(up, ({ draining }) => draining > 0, 'its worker drains')
  await further()
  writeFileSync(join(up.folder, what), '')
  const { head, body, isDirect } = await long
  assert.match(head, /200 OK/)
  assert.equal(isDirect, true)
  assert.ok(body === 'g'.repeat(1_000_000) + 'h'.repeat(1_000_000))
  await restarted
}

async function restart({ adminUrl, dataDir }: Up, what: object): Promise<void> {
  const answer = await fetch(`${adminUrl}/api/restart`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${readFileSync(join(dataDir, 'tokens', 'operator'), 'utf8').trim()}`,
    },
    body: JSON.stringify(what),
  })
  assert.match(await answer.text(), /\{"done":true\}\n$/)
}

test('a route that becomes slow is no longer delegated', limit, async (t) => {
  const up = await startServer(t, '--direct-below', '20')
  await askDirectly(up, '/slow?ms=0')
  // More than ten times as much as the 100 ms that are small for a shared program. Reported while it is in progress.
  const slow = ask(up, '/slow?ms=3000')
  await untilState(up, ({ direct }) => !direct.names.includes('slow'), 'it is demoted')
  assert.match((await slow).body, /slow/)
  assert.equal((await ask(up, '/slow?ms=0')).isDirect, false)
})

test('with --direct-below 0 all requests take the general path', limit, async (t) => {
  const up = await startServer(t, '--direct-below', '0')
  for (let i = 0; i < 100; i++) assert.equal((await ask(up, '/small')).isDirect, false)
  assert.deepEqual((await up.state()).direct, { answered: 0, givenBack: 0, names: [] })
})
