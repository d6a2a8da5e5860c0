/** Two clusters with one database: one keeps requests, the other takes over. */

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { problemOf } from '../support/live.ts'
import { startPostgres } from '../support/postgres.ts'
import { descendants, until } from '../support/processes.ts'
import { startUp, type Up } from '../support/up.ts'

const server = await startPostgres()
after(() => server?.stop())
const options = { skip: !server, timeout: 400_000 }
const workloads = join(import.meta.dirname, '..', 'fixtures', 'noted.ts')
/** A busy machine needs long for everything but the take-over itself. */
const limitMs = 120_000

interface Job {
  id: string
  state: string
  answer?: { status: number }
}

interface Stand {
  up(...args: string[]): Promise<Up>
  /** The parameters of the runs so far. */
  runs(): number[]
  handIn(up: Up, n: number, ms: number, workload?: string): Promise<Job>
}

async function stand(t: TestContext): Promise<Stand> {
  const url = await server!.createDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-runs-'))
  const file = join(folder, 'runs')
  writeFileSync(file, '')
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return {
    up: (...args) => startUp(t, '--workloads', workloads, '--store', url, '--queue', '24', ...args),
    runs: () => readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number),
    async handIn(up, n, ms, workload = 'noted') {
      const answer = await fetch(`${up.url}/${workload}?n=${n}&ms=${ms}&file=${file}`, {
        method: 'POST',
        headers: { prefer: 'respond-async' },
      })
      const text = await answer.text()
      assert.equal(answer.status, 202, text)
      return JSON.parse(text) as Job
    },
  }
}

async function get(up: Up, { id }: Job): Promise<Job> {
  return (await (await fetch(`${up.url}/-/jobs/${id}`)).json()) as Job
}

const ended = async (up: Up, jobs: readonly Job[]) => {
  const now = await Promise.all(jobs.map((job) => get(up, job)))
  return now.every(({ state }) => state === 'answered')
}

async function resultOf(up: Up, { id }: Job): Promise<{ status: number; text: string }> {
  const result = await fetch(`${up.url}/-/jobs/${id}/result`)
  return { status: result.status, text: await result.text() }
}

async function tryHandIn({ url }: Up): Promise<number> {
  const answer = await fetch(`${url}/noted?n=1&ms=1&file=/dev/null`, {
    method: 'POST',
    headers: { prefer: 'respond-async' },
  })
  await answer.body?.cancel()
  return answer.status
}

const says = (up: Up, words: RegExp) => () => up.lines.some((line) => words.test(line))
const keeperOf = (up: Up) =>
  descendants(up.process.pid!).find(({ command }) => / keeper ?$/.test(command))!.pid

test('a standby takes over all jobs of a cluster whose machine dies', options, async (t) => {
  const { up, runs, handIn } = await stand(t)
  const first = await up()
  const done = await Promise.all(Array.from({ length: 20 }, (_, n) => handIn(first, n, 1)))
  await until('short jobs are answered', () => ended(first, done), limitMs)
  const second = await up('--standby')
  await until('it waits', says(second, /another cluster keeps the requests/), limitMs)
  const refused = fetch(`${second.url}/noted?n=1`, { method: 'POST', headers: { prefer: 'respond-async' } })
  assert.equal((await problemOf(refused, 503)).code, 'keeper-away')
  assert.equal((await resultOf(second, done[7]!)).text, '21', 'it shows jobs of the other cluster')

  const once = await Promise.all([30, 31].map((n) => handIn(first, n, 60_000, 'noted-once')))
  const long = await Promise.all([40, 41, 42].map((n) => handIn(first, n, 8_000)))
  await until('long jobs run', () => [30, 31].every((n) => runs().includes(n)), limitMs)
  const waiting = await Promise.all(Array.from({ length: 60 }, (_, i) => handIn(first, 100 + i, 50)))
  const cancelled = waiting.pop()!
  assert.equal((await fetch(`${first.url}/-/jobs/${cancelled.id}`, { method: 'DELETE' })).status, 200)
  const states = await Promise.all([...once, ...long, ...waiting].map((job) => get(first, job)))
  const countOf = (state: string) => states.filter((job) => job.state === state).length
  t.diagnostic(
    `before: ${['accepted', 'queued', 'running', 'paused', 'answered'].map((s) => `${countOf(s)} ${s}`).join(', ')}`,
  )
  const finished = states.filter(({ state }) => state === 'answered')
  const runsBefore = runs()

  const killedAt = performance.now()
  first.process.kill('SIGKILL')
  await until('the second cluster leads', says(second, /goes on with \d+ jobs/), 30_000)
  const takeOverMs = performance.now() - killedAt
  t.diagnostic(`take-over in ${(takeOverMs / 1000).toFixed(1)} s`)
  assert.ok(takeOverMs < 15_000, `${takeOverMs} ms`)

  await until('all jobs are answered', () => ended(second, [...once, ...long, ...waiting]), limitMs)
  for (const [i, job] of long.entries())
    assert.deepEqual(await resultOf(second, job), { status: 200, text: `${(40 + i) * 3}` })
  for (const [i, job] of waiting.entries())
    assert.deepEqual(await resultOf(second, job), { status: 200, text: `${(100 + i) * 3}` })
  for (const job of once) {
    const { status, text } = await resultOf(second, job)
    assert.deepEqual([status, /outcome-unknown/.test(text)], [502, true])
  }
  assert.equal((await get(second, cancelled)).state, 'cancelled')

  const all = runs()
  const times = (n: number) => all.filter((each) => each === n).length
  for (let n = 0; n < 20; n++) assert.equal(times(n), 1, `job ${n} had ended`)
  for (const n of [30, 31]) assert.equal(times(n), 1, `job ${n} must not be repeated`)
  assert.equal(times(159), 0, 'it was cancelled')
  for (const { id } of finished) {
    const n = waiting.findIndex((job) => job.id === id)
    if (n >= 0) assert.equal(times(100 + n), runsBefore.filter((each) => each === 100 + n).length)
  }
  assert.equal((await handIn(second, 500, 1)).state, 'accepted')
})

test('a leader that was frozen writes nothing any more, and waits for the lease', options, async (t) => {
  const { up, runs, handIn } = await stand(t)
  const first = await up()
  const done = await handIn(first, 1, 1)
  await until('it is answered', () => ended(first, [done]), limitMs)
  const second = await up()
  const job = await handIn(first, 2, 1_500)
  await until('it runs', () => runs().includes(2), limitMs)
  const keeper = keeperOf(first)
  process.kill(keeper, 'SIGSTOP')
  // By now the first cluster has the answer, but cannot store it.
  await until('the second cluster leads', says(second, /goes on with 1 job/), 30_000)
  process.kill(keeper, 'SIGCONT')
  await until('the first one notices', says(first, /another cluster has taken over the store/), limitMs)
  await until('the job is answered', () => ended(second, [job]), limitMs)
  assert.deepEqual(runs(), [1, 2, 2])
  assert.equal((await resultOf(second, job)).text, '6')
  assert.equal(await tryHandIn(first), 503)
  assert.equal((await resultOf(first, job)).text, '6')
  second.process.kill('SIGTERM')
  await until('the first one leads again', async () => (await tryHandIn(first)) === 202, limitMs)
})

test('a standby alone leads, and its next keeper need not wait', options, async (t) => {
  const { up, runs, handIn } = await stand(t)
  const cluster = await up('--standby')
  await until('it leads', async () => (await tryHandIn(cluster)) === 202, limitMs)
  const job = await handIn(cluster, 1, 2_000)
  await until('it runs', () => runs().includes(1), limitMs)
  process.kill(keeperOf(cluster), 'SIGKILL')
  await until('the job is answered', () => ended(cluster, [job]).catch(() => false), limitMs)
  const log = cluster.lines.join('\n')
  assert.match(log, /goes on with \d/)
  assert.doesNotMatch(log, /another cluster/)
  const waits = cluster.lines.filter((line) => /a standby: asks/.test(line) && !/is restarted/.test(line))
  assert.equal(waits.length, 1)
})

test('a database that crashes is used again, and no accepted job is lost', options, async (t) => {
  const { up, handIn } = await stand(t)
  const cluster = await up()
  const before = await Promise.all(Array.from({ length: 20 }, (_, n) => handIn(cluster, n, 200)))
  await server!.crash()
  const refused = fetch(`${cluster.url}/noted?n=1`, { method: 'POST', headers: { prefer: 'respond-async' } })
  assert.equal((await problemOf(refused, 503)).code, 'store-fails')
  await until('no jobs are sent', says(cluster, /its lease could not be renewed for 5 s/), limitMs)
  await delay(1_000)
  await server!.start()
  await until('jobs are sent', says(cluster, /jobs are sent again/), limitMs)
  await until('all jobs are answered', () => ended(cluster, before), limitMs)
  for (const [n, job] of before.entries()) assert.equal((await resultOf(cluster, job)).text, `${n * 3}`)
  assert.equal((await handIn(cluster, 50, 1)).state, 'accepted')
})
