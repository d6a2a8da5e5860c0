/** Workers and fronts of other machines that are given two clusters with one database: they follow the one that leads. */

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { newTokens } from '../../src/wire/token.ts'
import { type FrontProcess, startFront } from '../support/front-processes.ts'
import { cli } from '../support/live.ts'
import { startPostgres } from '../support/postgres.ts'
import { descendants, isAlive, until } from '../support/processes.ts'
import { startUp, type Up } from '../support/up.ts'

const server = await startPostgres()
after(() => server?.stop())
const options = { skip: !server, timeout: 400_000 }
const workloads = join(import.meta.dirname, '..', 'fixtures', 'noted.ts')
const limitMs = 120_000
/** All clusters have the same ones. */
const tokens = newTokens()
process.env.PLIMSOLL_WORKER_TOKEN = tokens.worker
process.env.PLIMSOLL_FRONT_TOKEN = tokens.front

interface Stand {
  first: Up
  second: Up
  far: FrontProcess
  worker: ChildProcess
  /** The parameters of the runs so far. */
  runs(): number[]
  ask(n: number, ms: number, workload?: string): Promise<{ status: number; text: string; attempts: string }>
}

const says = (up: Up, words: RegExp) => () => up.lines.some((line) => words.test(line))
const joinOf = (up: Up) => /--join (tls:\S+)/.exec(up.lines.join('\n'))![1]!

/** The first cluster leads; a worker and a front of other machines know both. */
async function stand(t: TestContext): Promise<Stand> {
  const url = await server!.createDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-joiners-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const file = join(folder, 'runs')
  writeFileSync(file, '')
  const up = (...args: string[]) =>
    startUp(
      t,
      ...['--workloads', workloads, '--store', url, '--join-address', '127.0.0.1:0', '--min', '0', ...args],
    )
  const first = await up()
  const second = await up('--standby')
  await until('it waits', says(second, /another cluster keeps the requests/), limitMs)
  // The standby is named first, and sends them on.
  const list = `${joinOf(second)},${joinOf(first)}`
  const worker = startWorker(t, list, folder)
  await until('the worker follows the leader', async () => (await workersOf(first)).includes('far'), limitMs)
  const far = await startFront(t, { adminUrl: list, tokens }, '--workloads', workloads)
  return {
    ...{ first, second, far, worker },
    runs: () => readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number),
    async ask(n, ms, workload = 'noted') {
      const answer = await fetch(`${far.url}/${workload}?n=${n}&ms=${ms}&file=${file}`, { method: 'POST' })
      const attempts = answer.headers.get('plimsoll-attempts') ?? ''
      return { status: answer.status, text: await answer.text(), attempts }
    },
  }
}

function startWorker(t: TestContext, list: string, folder: string): ChildProcess {
  const place = ['--data', join(folder, 'worker'), '--workloads', workloads]
  const size = ['--id', 'far', '--cores', '1', '--slots', '4']
  const args = [cli, 'worker', '--join', list, ...place, ...size]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  t.after(async () => {
    const left = descendants(child.pid!).map(({ pid }) => pid)
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    await until('its slots have ended', () => !left.some(isAlive), limitMs)
  })
  return child
}

async function workersOf(up: Up): Promise<string[]> {
  // A brain that is stopped answers never.
  const state = await Promise.race([up.state().catch(() => undefined), delay(2_000, undefined)])
  return state?.workers.map(({ id }) => id) ?? []
}

test(
  'plain requests at a front elsewhere survive the take-over of a standby, and do not run again',
  options,
  async (t) => {
    const { first, second, runs, ask } = await stand(t)
    assert.deepEqual(await workersOf(second), [], 'a standby gets no workers that follow the leader')
    const running = [ask(1, 15_000), ask(2, 15_000, 'noted-once')]
    await until('they run', () => runs().length === 2, limitMs)
    const waiting = [3, 4, 5, 6].map((n) => ask(n, 200))
    await until(
      'the others are in the cluster',
      async () => (await first.state().catch(() => undefined))?.jobs === 6,
      limitMs,
    )
    const killedAt = performance.now()
    first.process.kill('SIGKILL')
    const late = ask(7, 1)
    await until('the second cluster leads', async () => (await workersOf(second)).includes('far'), limitMs)
    t.diagnostic(`the worker came after ${((performance.now() - killedAt) / 1000).toFixed(1)} s`)
    const answers = await Promise.all([...running, ...waiting, late])
    for (const [i, { status, text }] of answers.entries())
      assert.deepEqual([status, text], [200, `${(i + 1) * 3}`])
    for (const { attempts } of answers.slice(0, 2)) assert.equal(attempts, '1')
    assert.deepEqual(
      runs().sort((a, b) => a - b),
      [1, 2, 3, 4, 5, 6, 7],
    )
  },
)

test('a former leader that comes back gets no workers or fronts of the newer leader', options, async (t) => {
  const { first, second, far, ask } = await stand(t)
  assert.equal((await ask(1, 1)).text, '3')
  const frozen = descendants(first.process.pid!).map(({ pid }) => pid)
  for (const pid of [first.process.pid!, ...frozen]) process.kill(pid, 'SIGSTOP')
  await until('the second cluster leads', async () => (await workersOf(second)).includes('far'), limitMs)
  assert.equal((await ask(2, 1)).text, '6')
  for (const pid of [...frozen, first.process.pid!]) process.kill(pid, 'SIGCONT')
  await until('the first one notices', says(first, /another cluster has taken over the store/), limitMs)
  await until('it has lost its worker', async () => !(await workersOf(first)).includes('far'), limitMs)
  assert.equal((await ask(3, 1)).text, '9')
  const kept = await fetch(`${far.url}/noted?n=4&ms=1&file=/dev/null`, {
    method: 'POST',
    headers: { 'idempotency-key': 'one' },
  })
  assert.deepEqual([kept.status, await kept.text()], [200, '12'])
  second.process.kill('SIGTERM')
  await until(
    'they follow the first one again',
    async () => (await workersOf(first)).includes('far'),
    limitMs,
  )
  assert.equal((await ask(5, 1)).text, '15')
})
