/** HillClimbing@Cloud live: progress, rows, scaling, and a killed worker. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { hcRequestOf } from '../../src/systems/hillclimbing/rows.ts'
import { presetOf } from '../../src/systems/presets.ts'
import { readCode } from '../../src/worker/workload-code.ts'
import { patienceMs } from '../support/fleet-load.ts'
import { livePreset, tellSteps } from '../support/preset-live.ts'
import { until } from '../support/processes.ts'

const timeout = 180_000
const search = '/hillclimb?width=1024&height=1024&strategy=ASTAR'
const largeSearch = '/hillclimb?width=2048&height=2048&strategy=ASTAR'

test('HC-6 outstanding work falls in steps while a search runs, and HC-3 its row exists from the start and is completed once', {
  timeout,
}, async (t) => {
  // A step is 1.2 billion of this search's 5 billion units. Heartbeats, which also carry progress, are too rare to matter.
  const limits = { beatMs: 600_000 }
  const live = await livePreset(t, 'hillclimbing', { workScale: 0.01, min: 1, max: 1, more: { limits } })
  const { meter } = presetOf('hillclimbing')
  const { hashes } = await readCode(
    [join(import.meta.dirname, '..', '..', 'workloads', 'hillclimb.ts')],
    meter!,
  )
  const asked = { width: 2048, height: 2048, strategy: 'ASTAR', reach: 1, grade: 1, output: 'png' }
  const row = async () => {
    await live.ledger.flush()
    const key = { workload: 'hillclimb', codeHash: hashes.hillclimb!, parameters: JSON.stringify(asked) }
    return hcRequestOf((await live.ledger.metricsFor(key))!)
  }
  const answer = fetch(`${live.url}${largeSearch}`)
  const seen = new Set<number>()
  let begun: ReturnType<typeof row> | undefined
  const worker = () => live.state().workers[0]!
  const fell = () => {
    const { outstanding, figures, jobs } = worker()
    if (jobs.length === 0) return false
    assert.equal(figures.work, outstanding)
    seen.add(outstanding)
    begun ??= row()
    return seen.size >= 4
  }
  await until('outstanding work fell three times', fell, patienceMs)
  const falling = [...seen]
  t.diagnostic(`outstanding: ${falling.join(', ')}`)
  assert.equal(falling[0], 20_000_000_000)
  for (const [i, work] of falling.slice(1).entries()) assert.ok(falling[i]! - work >= 1_200_000_000)
  assert.equal((await begun)!.completed, false)
  const response = await answer
  const work = Number(response.headers.get('plimsoll-work'))
  await response.arrayBuffer()
  await until('it has ended', () => worker().jobs.length === 0, patienceMs)
  assert.equal(worker().outstanding, 0)
  const complete = await row()
  assert.deepEqual([complete.completed, complete.work], [true, work])
  // The estimate is known from now on, and the row is not written again.
  const quote = (await (await fetch(`${live.url}${largeSearch.replace('/', '/-/estimate/')}`)).json()) as {
    work: number
  }
  assert.equal(quote.work, work)
  await (await fetch(`${live.url}${largeSearch}`)).arrayBuffer()
  assert.deepEqual(await row(), complete)
})

test('HC-5, HC-8 and HC-10 live: a misfit starts a worker, one is killed, no request is lost, and idle workers end', {
  timeout,
}, async (t) => {
  const live = await livePreset(t, 'hillclimbing', { timeScale: 30, workScale: 0.1, max: 3 })
  const statuses: number[] = []
  const requests = Array.from({ length: 8 }, async (_, i) => {
    const answer = await fetch(`${live.url}${search}&xS=${i}`)
    statuses.push(answer.status)
    await answer.text()
    return Number(answer.headers.get('plimsoll-attempts'))
  })
  await until('a second worker is ready', () => live.state().ready >= 2, patienceMs)
  const busy = () => live.state().workers.find(({ jobs }) => jobs.length > 0)
  await until('one is busy', () => busy() !== undefined, patienceMs)
  process.kill(busy()!.pid!, 'SIGKILL')
  const attempts = await Promise.all(requests)
  assert.deepEqual(statuses, Array(8).fill(200))
  assert.ok(attempts.some((count) => count > 1))
  await until('no worker is left', () => live.state().workers.length === 0, patienceMs)
  assert.equal((await fetch(`${live.url}/hillclimb?width=64&height=64`)).status, 200)
  tellSteps(t, live)
  const reasons = new Set(live.state().steps.map(({ reason }) => reason.code))
  for (const code of ['first-worker', 'over-cap', 'average-work', 'lost', 'drained'])
    assert.ok(reasons.has(code), code)
})
