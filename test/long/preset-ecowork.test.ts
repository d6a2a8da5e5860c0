/** EcoWork@Cloud live: functions without a worker, tables, a dead worker, and scaling. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { ecoworkRows } from '../../src/systems/ecowork/rows.ts'
import { presetOf } from '../../src/systems/presets.ts'
import { encodePng } from '../../workloads/images/png-encode.ts'
import { photo } from '../../workloads/testing/pictures.ts'
import { patienceMs } from '../support/fleet-load.ts'
import type { Live } from '../support/live.ts'
import { livePreset, tellSteps } from '../support/preset-live.ts'
import { until } from '../support/processes.ts'

const timeout = 180_000

async function ask(live: Live, path: string, init?: RequestInit) {
  const answer = await fetch(`${live.url}${path}`, init)
  const body = await answer.arrayBuffer()
  assert.equal(answer.status, 200, Buffer.from(body).toString('utf8').slice(0, 300))
  const told = (name: string) => answer.headers.get(`plimsoll-${name}`)
  return { worker: told('worker'), work: Number(told('work')), attempts: told('attempts') }
}

test('EW-6 and EW-2 live: before a worker is ready a function takes a small request, and stores its measurement before it answers', {
  timeout,
}, async (t) => {
  // The interval is too long to matter.
  const ruled = { ...presetOf('ecowork').estimator!, writeEveryMs: 1e8 }
  const live = await livePreset(t, 'ecowork', { max: 1, wait: false, more: { ruled } })
  const away = await ask(live, '/foxes-rabbits?world=1&scenario=2&generations=40')
  assert.equal(away.worker, 'function:local')
  const [row, ...more] = await ecoworkRows(live.ledger, 'foxes-rabbits')
  const { key, minX, minWork, maxWork, metric } = row!
  assert.deepEqual([key, minX, minWork, maxWork, more.length], ['1:2', 40, away.work, away.work, 0])
  assert.equal(metric, away.work / 40)
  await live.ready
  const here = await ask(live, '/foxes-rabbits?world=1&scenario=1&generations=40')
  assert.equal(here.worker, 'w1')
  await live.ledger.flush()
  assert.equal((await ecoworkRows(live.ledger, 'foxes-rabbits')).length, 1)
  const body = encodePng(photo(64, 48), 6, () => {})
  const headers = { 'content-type': 'image/png' }
  await ask(live, '/compress?format=jpeg&quality=0.5', { method: 'POST', body: Buffer.from(body), headers })
  await ask(live, '/insect-war?rounds=5&army1=20&army2=20')
})

test('EW-8 live: a worker that neither answers in time nor sends a heartbeat is dead, and its request is answered elsewhere', {
  timeout,
}, async (t) => {
  const answers = { factor: 1, leastMs: 1500, heartbeatMs: 3000 }
  const live = await livePreset(t, 'ecowork', { max: 1, more: { limits: { answers, missedBeats: 1000 } } })
  const [first] = live.state().workers
  process.kill(first!.pid!, 'SIGSTOP')
  const answer = await ask(live, '/foxes-rabbits?world=1&generations=40')
  assert.deepEqual([answer.worker, answer.attempts], ['function:local', '2'])
  tellSteps(t, live)
  assert.ok(
    live.state().steps.some(({ reason, names }) => reason.code === 'heartbeat' && names.includes(first!.id)),
  )
})

test('EW-7 live: the fleet grows above 85 % CPU, shrinks below 15 %, and no request is lost', {
  timeout,
}, async (t) => {
  const live = await livePreset(t, 'ecowork', { timeScale: 30, workScale: 20, max: 2 })
  let busy = true
  const load = Array.from({ length: 16 }, async (_, lane) => {
    for (let i = 0; busy; i++)
      await ask(live, `/foxes-rabbits?world=2&generations=300&seed=${lane * 1000 + i}`)
  })
  await until(
    'the fleet grows',
    () => live.state().steps.some(({ reason }) => reason.code === 'cpu-step'),
    patienceMs,
  )
  await until('two workers are ready', () => live.state().ready === 2, patienceMs)
  busy = false
  await Promise.all(load)
  await until(
    'one is draining',
    () => live.state().steps.some(({ change }) => change === 'drain'),
    patienceMs,
  )
  await until('one is left', () => live.state().workers.length === 1, patienceMs)
  tellSteps(t, live)
})
