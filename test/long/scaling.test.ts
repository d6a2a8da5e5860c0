/** The live fleet from zero and back, and workers that receive SIGTERM. `npm run check:scaling` grows and shrinks it under load. */

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import test, { type TestContext } from 'node:test'
import { type Load, nap, naps, patienceMs, perTwoJobs } from '../support/fleet-load.ts'
import { cli, type Live, open as openGate, startLive, stopLive } from '../support/live.ts'
import { until } from '../support/processes.ts'

const timeout = 180_000

async function begin(t: TestContext, options: Parameters<typeof startLive>[0], wait = true): Promise<Live> {
  const live = await startLive(options, wait)
  t.after(() => stopLive(live))
  return live
}

test('from zero: the first request launches a worker and is answered, and later the fleet is empty again', {
  timeout,
}, async (t) => {
  const jobs = () => live?.state().jobs ?? 0
  let live: Live | undefined
  live = await begin(t, { files: [naps], min: 0, max: 2, scaler: perTwoJobs(() => jobs(), 0, 2, 300) }, false)
  for (let round = 0; round < 2; round++) {
    assert.equal((await fetch(`${live.url}/-/ready`)).status, 200)
    assert.deepEqual([live.state().workers, live.state().booting], [[], []])
    const load: Load = { sent: 0, troubles: [] }
    await nap(live, load, 10)
    assert.deepEqual(load.troubles, [])
    const empty = () => live.state().workers.length === 0 && live.state().booting.length === 0
    await until('no worker is left', empty, patienceMs)
  }
  const changes = live.state().steps.map(({ change }) => change)
  const round = ['launch', 'joined', 'drain', 'ended']
  assert.deepEqual(changes, [...round, ...round])
})

test('a worker that receives SIGTERM reports it at once, finishes its jobs, and is replaced', {
  timeout,
}, async (t) => {
  const live = await begin(t, { slots: 4 })
  const [first] = live.state().workers
  const answer = fetch(`${live.url}/gated?gate=leave`)
  await until('the worker has the job', () => live.state().workers[0]!.jobs.length === 1, patienceMs)
  process.kill(first!.pid!, 'SIGTERM')
  await until('another has joined', () => live.state().ready === 1 && live.state().draining === 1, patienceMs)
  openGate(live, 'leave')
  const response = await answer
  assert.deepEqual([response.status, await response.text()], [200, 'opened'])
  assert.equal(response.headers.get('plimsoll-attempts'), '1')
  assert.equal(response.headers.get('plimsoll-worker'), first!.id)
  await until('it has ended', () => live.state().workers.length === 1, patienceMs)
  const told = live.state().steps.map(({ text }) => text)
  assert.ok(told.includes(`${first!.id} draining: it was told to end`), told.join('\n'))
  assert.ok(told.includes(`${first!.id} ended after draining`), told.join('\n'))
})

/** A worker that the cluster did not launch. */
async function byHand(t: TestContext, live: Live, ...more: string[]): Promise<ChildProcess> {
  const args = [cli, 'worker', '--join', live.adminUrl, '--data', live.dataDir, '--workloads', naps, ...more]
  const child = spawn(process.execPath, args, {
    stdio: 'ignore',
    env: { ...process.env, PLIMSOLL_WORKER_TOKEN: live.tokens.worker },
  })
  t.after(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  return child
}

test('a manually started idle worker exits cleanly on SIGTERM, without missed heartbeats', {
  timeout,
}, async (t) => {
  const live = await begin(t, { files: [naps], max: 2 })
  const child = await byHand(t, live, '--id', 'mine')
  await until('it has joined', () => live.state().ready === 2, patienceMs)
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  assert.equal(code, 0)
  const ends = live.state().steps.filter(({ names }) => names.includes('mine'))
  assert.deepEqual(
    ends.map(({ change }) => change),
    ['joined', 'drain', 'ended'],
  )
})

test('a second worker of the same launch is terminated, and the first stays', { timeout }, async (t) => {
  const live = await begin(t, { files: [naps], max: 2 })
  const [launch] = live.state().steps[0]!.names
  const child = await byHand(t, live, '--launch', launch!, '--id', 'twin')
  const [code] = await once(child, 'exit')
  // The cluster gave it up.
  assert.equal(code, 3)
  assert.deepEqual(
    live.state().workers.map(({ id }) => id),
    ['w1'],
  )
  const load: Load = { sent: 0, troubles: [] }
  await nap(live, load, 1)
  assert.deepEqual(load.troubles, [])
  assert.equal(live.state().counters.retries, 0)
})
