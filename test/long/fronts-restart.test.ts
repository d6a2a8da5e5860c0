/** A brain that restarts while its fronts stay, and fronts and workers that are replaced under load. */

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { ClusterState } from '../../src/live/cluster.ts'
import { readToken, tokenFile } from '../../src/live/tokens.ts'
import { bearer } from '../../src/wire/token.ts'
import { cable, startFront } from '../support/front-processes.ts'
import { cli, problemOf, startLive, stopLive, until } from '../support/live.ts'
import { descendants } from '../support/processes.ts'
import { steadyLoad } from '../support/steady-load.ts'

const counter = join(import.meta.dirname, '..', 'fixtures', 'shop-counter.ts')

interface Up {
  process: ChildProcess
  adminUrl: string
  tokens: { front: string }
  state(): Promise<ClusterState>
}

/** Starts `plimsoll up` in a child process. Resolves when it is ready. */
async function up(t: TestContext, dataDir: string, adminPort: string, ...args: string[]): Promise<Up> {
  const child = spawn(
    process.execPath,
    [
      ...[cli, 'up', '--port', '0', '--admin-port', adminPort, '--data', dataDir, '--min', '1', '--max', '1'],
      ...['--workloads', counter, ...args],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  t.after(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    await until(() => descendants(child.pid!).length === 0, 'all its processes have ended')
  })
  await until(() => output.includes('Try:') || child.exitCode !== null, 'the cluster is ready')
  const [, adminUrl = ''] = output.match(/http:\/\/127\.0\.0\.1:\d+/g) ?? []
  return {
    process: child,
    adminUrl,
    // The next brain with this folder has the same.
    tokens: { front: readToken(tokenFile(dataDir, 'front')) },
    state: async () => (await (await fetch(`${adminUrl}/api/state`)).json()) as ClusterState,
  }
}

function folder(t: TestContext): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-fronts-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 }))
  return dataDir
}

async function placed(cluster: Up, count: number): Promise<void> {
  while ((await cluster.state()).jobs !== count) await new Promise((resolve) => setTimeout(resolve, 20))
}

test('a front survives its brain: the next brain runs pending requests again, unless they must not be repeated', {
  timeout: 60_000,
}, async (t) => {
  const dataDir = folder(t)
  const bought = () => readFileSync(join(dataDir, 'bought'), 'utf8').trimEnd().split('\n')
  const first = await up(t, dataDir, '0', '--slots', '2')
  const far = await startFront(t, first, '--workloads', counter)
  const get = (path: string) => fetch(`${far.url}/${path}`)
  const buy = (what: string) => fetch(`${far.url}/buy?what=${what}&gate=g`, { method: 'POST' })
  const lost = buy('hat')
  await until(() => existing(join(dataDir, 'bought')), 'the first purchase has begun')
  const again = get('browse?gate=g')
  await placed(first, 2)
  // No slot is free, so it has not begun.
  const later = buy('coat')
  await placed(first, 3)
  first.process.kill('SIGKILL')
  await until(() => far.said().includes('held'), 'the front has noticed')
  const held = get('hello')

  const second = await up(t, dataDir, new URL(first.adminUrl).port, '--slots', '2')
  writeFileSync(join(dataDir, 'g'), '')
  const problem = await problemOf(lost, 502)
  assert.equal(problem.code, 'outcome-unknown')
  // Its worker died with the supervisor, so its attempt has failed.
  assert.deepEqual(await (await again).json(), { attempt: 2 })
  assert.equal(await (await later).text(), 'bought coat')
  assert.equal(await (await held).text(), 'hello')
  assert.deepEqual(bought(), ['hat', 'coat'])
  const joined = (await second.state()).fronts.find(({ pid }) => pid === far.process.pid)
  assert.deepEqual([joined?.accepted, joined?.inHand], [4, 0])

  far.process.kill('SIGTERM')
  const [code] = await once(far.process, 'exit')
  assert.equal(code, 0)
  assert.equal((await second.state()).fronts.length, 1)
})

test('fronts and workers are replaced one after another without an error for any client', {
  timeout: 600_000,
}, async (t) => {
  const live = await startLive({
    ...{ min: 2, max: 2, queue: 1_000 },
    fronts: { count: 2, command: [process.execPath, cli, 'front'] },
  })
  t.after(() => stopLive(live))
  await until(() => live.state().ready === 2, 'both workers are ready')
  const before = pids(live.state())
  const load = steadyLoad(`${live.url}/strict?n=21`, 2, '42')
  for (let round = 0; round < 8; round++) {
    const answer = await fetch(`${live.adminUrl}/api/restart`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: bearer(live.tokens.operator) },
      body: '{"fronts":true,"workers":true}',
    })
    const steps = (await answer.text()).trimEnd().split('\n')
    assert.equal(steps.at(-1), '{"done":true}')
    assert.equal(steps.length, 5, steps.join(' '))
    assert.equal(live.state().ready, 2)
  }
  await load.stop()
  assert.deepEqual(load.errors, [])
  assert.deepEqual(
    pids(live.state()).filter((pid) => before.includes(pid)),
    [process.pid],
  )
  t.diagnostic(`${load.answered} requests answered during it`)
})

test('the brain restarts without an error for clients of a remote front', {
  timeout: 120_000,
}, async (t) => {
  const dataDir = folder(t)
  let cluster = await up(t, dataDir, '0')
  const far = await startFront(t, cluster, '--workloads', counter)
  const load = steadyLoad(`${far.url}/hello`, 2, 'hello')
  for (let round = 0; round < 5; round++) {
    const answered = load.answered
    await until(() => load.answered > answered + 50, 'it is busy')
    cluster.process.kill('SIGTERM')
    await once(cluster.process, 'exit')
    cluster = await up(t, dataDir, new URL(cluster.adminUrl).port)
  }
  await load.stop()
  assert.deepEqual(load.errors, [])
  t.diagnostic(`${load.answered} requests answered during it`)
})

test('no purchase runs twice, however often the brain or its connection fails', {
  timeout: 180_000,
}, async (t) => {
  const dataDir = folder(t)
  writeFileSync(join(dataDir, 'g'), '')
  let cluster = await up(t, dataDir, '0')
  const way = await cable(t, cluster.adminUrl)
  const far = await startFront(t, { ...cluster, adminUrl: way.url }, '--workloads', counter)
  const answers = new Map<string, number>()
  let open = true
  const customers = Array.from({ length: 4 }, async (_, customer) => {
    for (let i = 0; open; i++) {
      const what = `${customer}-${i}`
      const answer = await fetch(`${far.url}/buy?what=${what}&gate=g`, { method: 'POST' })
      answers.set(what, answer.status)
      await answer.arrayBuffer()
    }
  })
  for (let round = 0; round < 6; round++) {
    for (let cut = 0; cut < 5; cut++) {
      const bought = answers.size
      await until(() => answers.size > bought + 3, 'purchases are answered')
      way.cut()
      way.mend()
    }
    cluster.process.kill('SIGKILL')
    await once(cluster.process, 'exit')
    cluster = await up(t, dataDir, new URL(cluster.adminUrl).port)
  }
  open = false
  await Promise.all(customers)
  const bought = readFileSync(join(dataDir, 'bought'), 'utf8').trimEnd().split('\n')
  assert.equal(new Set(bought).size, bought.length, 'an item was bought twice')
  for (const [what, status] of answers) {
    assert.ok(status === 200 || status === 502, `${what}: ${status}`)
    if (status === 200) assert.ok(bought.includes(what), what)
  }
  const unknown = [...answers.values()].filter((status) => status === 502).length
  t.diagnostic(`${answers.size} purchases, ${unknown} with unknown outcome; ${bought.length} were begun`)
})

test('a restart request from a browser page, or with an invalid body, is rejected', async (t) => {
  const live = await startLive({}, false)
  t.after(() => stopLive(live))
  const ask = (type: string, body: string) =>
    fetch(`${live.adminUrl}/api/restart`, {
      method: 'POST',
      headers: { 'content-type': type, authorization: bearer(live.tokens.operator) },
      body,
    })
  assert.equal((await problemOf(ask('text/plain', '{}'), 415)).code, 'wrong-type')
  assert.equal((await problemOf(ask('application/json', '{"fronts":1}'), 400)).code, 'bad-request')
  assert.equal((await problemOf(ask('application/json', 'x'.repeat(9_000)), 400)).code, 'bad-request')
})

function pids({ workers, fronts }: ClusterState): (number | undefined)[] {
  return [...workers, ...fronts].map(({ pid }) => pid)
}

function existing(file: string): boolean {
  try {
    return readFileSync(file, 'utf8') !== ''
  } catch {
    return false
  }
}
