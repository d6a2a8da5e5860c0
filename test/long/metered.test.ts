/** Metering in a live cluster: equal requests have equal work, and progress is known while they run. */

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { Estimator } from '../../src/estimate/estimator.ts'
import type { ClusterState } from '../../src/live/cluster.ts'
import { type Live, startLive, stopLive, until, untilIdle } from '../support/live.ts'
import { slotsOf } from '../support/processes.ts'

const files = [join(import.meta.dirname, '..', '..', 'src', 'worker', 'slots', 'fixtures', 'metered.ts')]

/** Gives every job the same estimate. */
const expects = (work: number): Estimator => ({
  estimate: () => ({ work, low: work, high: work, source: 'prior', reason: { code: 'fixed' }, memoryMb: 1 }),
  learn() {},
})

async function live(t: TestContext, options: Parameters<typeof startLive>[0]): Promise<Live> {
  const cluster = await startLive({ files, ...options })
  t.after(() => stopLive(cluster))
  return cluster
}

async function crunch(cluster: Live, n: number): Promise<{ work: string; worker: string }> {
  const answer = await fetch(`${cluster.url}/crunch?n=${n}`)
  assert.equal(answer.status, 200, await answer.text())
  return { work: answer.headers.get('plimsoll-work')!, worker: answer.headers.get('plimsoll-worker')! }
}

function hog(t: TestContext): ChildProcess {
  const child = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' })
  t.after(async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  return child
}

const runningSlot = () => slotsOf(process.pid).find(({ state }) => state === 'R')?.pid

test('equal requests have exactly equal work, on any worker and under any load', async (t) => {
  const cluster = await live(t, { min: 2, max: 2 })
  await until(() => cluster.state().ready === 2, 'two workers are ready')
  const n = 3e7
  const alone = await crunch(cluster, n)
  assert.ok(Number(alone.work) > n)

  const together = await Promise.all([crunch(cluster, n), crunch(cluster, n)])
  assert.equal(new Set(together.map(({ worker }) => worker)).size, 2)
  assert.deepEqual(new Set(together.map(({ work }) => work)), new Set([alone.work]))

  const stopped = crunch(cluster, n)
  let pid = 0
  await until(() => {
    pid = runningSlot() ?? 0
    return pid > 0
  }, 'its slot runs')
  process.kill(pid, 'SIGSTOP')
  await until(
    () => slotsOf(process.pid).some((slot) => slot.pid === pid && slot.state === 'T'),
    'it is stopped',
  )
  process.kill(pid, 'SIGCONT')
  assert.equal((await stopped).work, alone.work)

  for (const slot of slotsOf(process.pid)) process.kill(slot.pid, 'SIGKILL')
  assert.equal((await crunch(cluster, n)).work, alone.work)

  hog(t)
  hog(t)
  for (let i = 0; i < 2; i++) assert.equal((await crunch(cluster, n)).work, alone.work)
})

test("a worker's outstanding work falls while a job computes, whatever the discipline", async (t) => {
  const expected = 1e12
  const options = { progressEvery: 5e6, estimator: expects(expected) } as const
  const cluster = await live(t, { ...options, scheduler: 'least-connections', discipline: 'sharing' })
  const client = new AbortController()
  const long = fetch(`${cluster.url}/crunch?n=1e15`, { signal: client.signal })
  const seen = new Set<number>()
  await until(() => {
    for (const { outstanding } of cluster.state().workers) if (outstanding > 0) seen.add(outstanding)
    return seen.size >= 5
  }, 'outstanding work fell four times')
  const falling = [...seen]
  assert.equal(Math.max(...falling), falling[0])
  assert.deepEqual(
    falling,
    falling.toSorted((a, b) => b - a),
  )
  assert.ok(falling[0]! <= expected && falling[0]! - falling.at(-1)! >= 4 * 5e6)
  const shown = (await (await fetch(`${cluster.adminUrl}/api/state`)).json()) as ClusterState
  assert.ok(shown.workers[0]!.outstanding <= falling.at(-1)!)
  client.abort()
  await assert.rejects(long)
  await untilIdle(cluster)
  assert.equal(cluster.state().workers[0]!.outstanding, 0)
})

test('a job that outgrows its estimate is ranked again by its metered work', async (t) => {
  const cluster = await live(t, { estimator: expects(1e6) })
  const client = new AbortController()
  const long = fetch(`${cluster.url}/crunch?n=1e15`, { signal: client.signal })
  await until(() => cluster.state().workers[0]!.outstanding > 1e7, 'its estimate is revised')
  // It ranks behind a job with a short estimate, which overtakes it.
  await crunch(cluster, 1000)
  client.abort()
  await assert.rejects(long)
})

test('metrics are stored while a job runs, and completed when it ends', async (t) => {
  const formula = { instructions: 0.4, blocks: 0.15, fieldLoads: 0.05, stackLoads: 0.4 }
  const cluster = await live(t, { meter: { mode: 'regions', formula }, metricsEvery: { blocks: 1e6 } })
  const ask = (n: string, signal?: AbortSignal) =>
    fetch(`${cluster.url}/crunch?n=${n}`, signal ? { signal } : {})
  const done = await ask('3e6')
  const work = Number(done.headers.get('plimsoll-work'))
  await done.text()
  await cluster.ledger.flush()
  const [row] = await cluster.ledger.recent({ workload: 'crunch', limit: 1 })
  const { codeHash } = row!
  const metrics = (n: string) =>
    cluster.ledger.metricsFor({ workload: 'crunch', codeHash, parameters: JSON.stringify({ n }) })
  const complete = (await metrics('3e6'))!
  assert.deepEqual([complete.running, complete.work], [false, work])
  assert.ok(JSON.parse(complete.tally).blocks > 3e6)

  const client = new AbortController()
  const long = ask('1e15', client.signal)
  const works = new Set<number>()
  for (let last = await metrics('1e15'); works.size < 3; last = await metrics('1e15')) {
    if (!last) continue
    assert.deepEqual([last.running, last.worker], [true, cluster.state().workers[0]!.id])
    assert.match(last.attempt, /^[\w-]+\/1$/)
    works.add(last.work)
  }
  client.abort()
  await assert.rejects(long)
  await untilIdle(cluster)
  await cluster.ledger.flush()
  const left = (await metrics('1e15'))!
  // No worker runs it any more; the next equal request may take the row over.
  assert.deepEqual([left.running, left.worker, left.attempt], [true, '', ''])
})
