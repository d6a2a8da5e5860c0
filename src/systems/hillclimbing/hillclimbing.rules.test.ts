/** HillClimbing@Cloud, rule by rule. More tests of HC-1, HC-4, HC-7 and HC-8 are beside the code. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import hillclimb from '../../../workloads/hillclimb.ts'
import { answers, only, sent } from '../../brain/testing/trial.ts'
import { question } from '../../estimate/testing/question.ts'
import type { MetricsRow } from '../../ledger/metrics.ts'
import { memoryLedger } from '../../ledger/testing/memory-ledger.ts'
import { metered } from '../../meter/testing/both-ways.ts'
import type { Figures } from '../../model/view.ts'
import { fakeContext } from '../../workload/fake-context.ts'
import { estimatorOf } from '../estimators.ts'
import { presetOf } from '../presets.ts'
import { launches, PresetTrial, steps } from '../testing/presets.ts'
import { hcRequestOf } from './rows.ts'

const million = 1_000_000
const minute = 60_000

/** A trial with this many workers, a, b, c …, none of them fresh. */
function fleet(count: number, scale: { min?: number; max?: number } = {}): PresetTrial {
  const trial = new PresetTrial('hillclimbing', scale)
  trial.boots()
  // A request that fits nowhere launches a worker.
  for (let i = 1; i < count; i++) {
    for (let j = 0; j < i; j++) trial.arrives(`filler-${i}-${j}`, { work: 501 * million })
    trial.arrives(`more-${i}`, { work: 501 * million })
    trial.boots()
    for (const { jobs } of trial.view.workers) for (const { job } of jobs) trial.finishes(job)
  }
  assert.equal(trial.view.ready, count)
  return trial
}

test('HC-1 a search on a map, from a start, within corners, by each strategy, answers the path drawn on the map', async () => {
  const asked = { map: 5, width: 60, height: 50, xS: 12, yS: 11, x0: 10, y0: 8, x1: 40, y1: 44 }
  for (const strategy of ['BFS', 'DFS', 'A*']) {
    const params = await hillclimb.params!['~standard'].validate({ ...asked, strategy })
    assert.ok('value' in params)
    const answer = await hillclimb.run(params.value as never, fakeContext())
    const { body, headers } = answer as unknown as { body: Uint8Array; headers: Record<string, string> }
    assert.deepEqual([...body.subarray(1, 4)], [...Buffer.from('PNG')])
    const [x, y] = headers['hillclimb-peak']!.split(',').map(Number) as [number, number]
    assert.ok(x >= 10 && x <= 40 && y >= 8 && y <= 44)
  }
})

test('HC-2 work is the static size of each routine, at every entry, whatever happens inside', async () => {
  const { meter } = presetOf('hillclimbing')
  assert.ok(meter && meter !== 'off')
  assert.deepEqual([meter.mode, meter.formula], ['routines', { instructions: 1 }])
  const work = async (calls: number, turns: number) => {
    const once =
      'const o = { once(turns) { let s = 0; for (let i = 0; i < turns; i++) s += i * i; return s } }'
    const all = `{ let s = 0; for (let i = 0; i < ${calls}; i++) s += o.once(${turns}); return s }`
    return (await metered(`${once}; function main() ${all}`, 'routines')).work
  }
  assert.equal(await work(10, 5), await work(10, 5000))
  const [ten, twenty, thirty] = [await work(10, 5), await work(20, 5), await work(30, 5)]
  assert.ok(twenty > ten)
  assert.equal(thirty - twenty, twenty - ten)
})

const row = (more: Partial<MetricsRow>): MetricsRow => ({
  ...{ workload: 'hillclimb', codeHash: 'code', work: 0, tally: '{}', running: true },
  parameters: JSON.stringify({
    map: 3,
    width: 512,
    height: 512,
    xS: 5,
    yS: 6,
    strategy: 'BFS',
    output: 'png',
  }),
  ...{ worker: 'w1', attempt: 'j1/1', at: 1 },
  ...more,
})

test('HC-3 a row has all parameters, their concatenation as id, the metrics, and whether it is complete', () => {
  assert.deepEqual(hcRequestOf(row({ work: 7, running: false })), {
    requestId: '3_512_512_5_6_____BFS_output=png',
    ...{ map: 3, width: 512, height: 512, xS: 5, yS: 6, x0: null, y0: null, x1: null, y1: null },
    ...{ strategy: 'BFS', work: 7, completed: true },
  })
  const upload = hcRequestOf(row({ parameters: JSON.stringify({ strategy: 'DFS', body: '900 hash' }) }))
  assert.deepEqual([upload.map, upload.completed], ['900 hash', false])
})

test('HC-3 a row is created when a request is first seen, and not written again once complete', async () => {
  const ledger = memoryLedger()
  const read = async () => hcRequestOf((await ledger.metricsFor(row({})))!)
  ledger.recordMetrics(row({}))
  assert.deepEqual([(await read()).completed, (await read()).work], [false, 0])
  ledger.recordMetrics(row({ work: 700, running: false }))
  ledger.recordMetrics(row({ attempt: 'j2/1' }))
  ledger.recordMetrics(row({ attempt: 'j2/1', work: 900, running: false }))
  assert.deepEqual([(await read()).completed, (await read()).work], [true, 700])
})

test('HC-4 without any measurement the estimate is 200,000,000', () => {
  const rule = estimatorOf(presetOf('hillclimbing').estimator!, { ledger: memoryLedger(), log() {} }).rule(
    'hillclimb',
    'meter',
  )
  assert.equal(rule.guess(question({}, { workload: 'hillclimb' }))?.value, 200 * million)
  assert.equal(presetOf('hillclimbing', { workScale: 1000 }).estimator!.unknown, 200_000)
})

test('HC-5 a request goes to the worker with the least work, not with the fewest requests', () => {
  const trial = fleet(2)
  trial.arrives('large', { work: 300 * million })
  const other = trial.at('large').worker === 'a' ? 'b' : 'a'
  for (const id of ['s1', 's2', 's3'])
    assert.deepEqual(sent(trial.arrives(id, { work: 50 * million })), [`${id} ${other}`])
})

test('HC-5 a busy worker takes up to 500,000,000 in all, and then a worker is launched', () => {
  const trial = fleet(1)
  trial.arrives('first', { work: 300 * million })
  assert.deepEqual(sent(trial.arrives('fits', { work: 200 * million })), ['fits a'])
  const actions = trial.arrives('over', { work: 1 })
  assert.deepEqual([launches(actions), trial.view.waiting], [1, ['over']])
})

test('HC-5 an idle worker takes a request of any size, and a too large one alone', () => {
  const trial = fleet(1)
  assert.deepEqual(sent(trial.arrives('huge', { work: 5000 * million })), ['huge a'])
  assert.equal(launches(trial.arrives('small', { work: 1 })), 1)
  assert.deepEqual(sent(trial.boots()), ['small b'])
})

test('HC-5 a request whose worker is booting goes to the first that can take it, and launches only one', () => {
  const trial = fleet(1)
  trial.arrives('first', { work: 400 * million })
  assert.equal(launches(trial.arrives('second', { work: 200 * million })), 1)
  assert.equal(launches(trial.after(10_000).tick()), 0)
  assert.deepEqual(sent(trial.finishes('first')), ['second a'])
})

test('HC-5 marked and unreachable workers get no requests', () => {
  const trial = fleet(2)
  trial.tell({ type: 'drain', worker: 'a' })
  assert.deepEqual(sent(trial.arrives('one', { work: 1 })), ['one b'])
  trial.fails('one', 'unreachable')
  assert.deepEqual([trial.view.waiting, trial.view.booting.length], [['one'], 1])
})

test('HC-5 at the maximum, small requests do not overtake a large one forever', () => {
  const trial = fleet(1, { max: 1 })
  trial.arrives('s0', { work: 100 * million })
  assert.equal(launches(trial.arrives('large', { work: 450 * million })), 0)
  // Small requests always find room.
  let i = 0
  for (; i < 500 && trial.view.waiting.includes('large'); i++) {
    trial.arrives(`s${i + 1}`, { work: 100 * million })
    trial.finishes(`s${i}`)
    trial.after(1000).tick()
    if (!trial.runs.has(`s${i + 1}`)) break
  }
  assert.equal(trial.at('large').worker, 'a')
  assert.ok(i >= 59 && i < 80, `${i}`)
})

test('HC-6 the estimate is added when a request is sent, and reported progress is subtracted', () => {
  const trial = fleet(1)
  trial.arrives('long', { work: 400 * million, high: 4000 * million })
  const work = () => trial.view.workers[0]!.figures.work
  assert.equal(work(), 400 * million)
  const seen = [12, 24, 36].map((done) => {
    trial.after(9450).progresses('long', done * million)
    return work()
  })
  assert.deepEqual(seen, [388 * million, 376 * million, 364 * million])
  assert.equal(trial.view.workers[0]!.outstanding, 364 * million)
  assert.equal(presetOf('hillclimbing').following!.progressEvery, 12 * million)
})

test('HC-6 no progress is lost or counted twice, in any order of messages', () => {
  const trial = fleet(1)
  trial.arrives('x', { work: 300 * million })
  trial.arrives('y', { work: 100 * million })
  for (const done of [24, 12, 24, 12]) trial.progresses('x', done * million)
  trial.progresses('y', 12 * million)
  assert.equal(trial.view.workers[0]!.figures.work, (276 + 88) * million)
  trial.finishes('x')
  assert.equal(trial.view.workers[0]!.figures.work, 88 * million)
})

test('HC-6 progress makes room for another request', () => {
  const trial = fleet(1, { max: 1 })
  trial.arrives('first', { work: 400 * million })
  trial.arrives('second', { work: 112 * million })
  assert.deepEqual(trial.view.waiting, ['second'])
  assert.deepEqual(sent(trial.progresses('first', 12 * million)), ['second a'])
})

test('HC-7 a worker is fresh until its CPU was read, and an empty marked one ends at a look', () => {
  const trial = fleet(2)
  assert.deepEqual(steps(trial.lives(minute, 0.9)), ['drain b'])
  assert.deepEqual(steps(trial.lives(minute - 1000, 0.9)), [])
  assert.deepEqual(steps(trial.lives(1000, 0.9)), ['terminate b'])
})

test('HC-7 a worker whose CPU is exactly 0 % is fresh, and nothing is decided while one is', () => {
  const trial = fleet(1)
  trial.arrives('x', { work: 360 * million })
  assert.deepEqual(steps(trial.lives(minute, 0)), [])
  assert.equal(trial.view.workers[0]!.figures!.fresh, true)
  assert.deepEqual(steps(trial.lives(minute, 0.002)), ['launch'])
})

test('HC-8 a mean above 350,000,000 launches a worker, one below 150,000,000 marks one', () => {
  for (const [work, expected] of [
    [351, ['launch']],
    [350, []],
    [150, []],
    [149, ['drain b']],
  ] as const) {
    const trial = fleet(2)
    trial.arrives('x', { work: work * million })
    trial.arrives('y', { work: work * million })
    assert.deepEqual(steps(trial.lives(minute, 1)), expected, `${work}`)
  }
})

test('HC-8 the fleet follows the mean work, up, and down to no worker', () => {
  const trial = fleet(1)
  trial.arrives('x', { work: 360 * million })
  assert.deepEqual(steps(trial.lives(minute, 1)), ['launch'])
  trial.boots()
  assert.deepEqual(steps(trial.lives(minute, 1)), [])
  trial.finishes('x')
  const down = steps(trial.lives(6 * minute, { a: 0.4, b: 0.1 }))
  assert.deepEqual(down, ['drain b', 'drain a', 'terminate b', 'terminate a'])
  assert.equal(launches(trial.arrives('y', { work: 1 })), 1)
  assert.deepEqual(sent(trial.boots()), ['y c'])
})

test('HC-9 the status of a worker has requests, work, last CPU, fresh and marked', () => {
  const trial = fleet(2)
  trial.arrives('x', { work: 10 * million })
  const status = (): Figures[] => trial.view.workers.map(({ cpu, figures }) => ({ cpu, ...figures }))
  const x = trial.at('x').worker
  trial.lives(minute, { [x]: 0.75, [x === 'a' ? 'b' : 'a']: 0.01 })
  assert.deepEqual(
    status().find(({ requests }) => requests === 1),
    {
      ...{ cpu: 0.75, requests: 1, work: 10 * million, marked: false, fresh: false },
    },
  )
  assert.equal(status().find(({ requests }) => requests === 0)!.marked, true)
  for (let i = 0; i < 3; i++) trial.arrives(`y${i}`, { work: 500 * million })
  trial.boots()
  trial.lives(minute, 0.5, minute)
  assert.ok(status().some(({ fresh }) => fresh === true))
})

test('HC-10 a request is sent to the least-used worker again, however often its worker is lost', () => {
  const trial = fleet(3)
  trial.arrives('other', { work: 300 * million })
  trial.arrives('held', { work: 300 * million })
  for (let i = 0; i < 19; i++) {
    const lost = trial.at('held').worker
    trial.tell({ type: 'lost', worker: lost, message: 'it crashed' })
    if (trial.view.waiting.includes('held')) trial.boots()
    assert.notEqual(trial.at('held').worker, lost)
    const [worker] = trial.view.workers.filter(({ id }) => id === trial.at('held').worker)
    assert.deepEqual(
      worker!.jobs.map(({ job }) => job),
      ['held'],
    )
  }
  assert.deepEqual(answers(trial.finishes('held')), ['held result finished'])
})

test('HC-10 failed connections are unbounded, and a job that crashes workers is bounded', () => {
  const trial = fleet(2)
  trial.arrives('unlucky', { work: million })
  for (let i = 0; i < 100; i++) {
    trial.fails('unlucky', 'unreachable')
    for (const { id } of trial.view.workers) trial.reports(id, [])
  }
  assert.deepEqual(answers(trial.finishes('unlucky')), ['unlucky result finished'])
  trial.arrives('killer', { work: million })
  let told: string[] = []
  for (let i = 0; i < 30 && told.length === 0; i++) {
    told = answers(trial.tell({ type: 'lost', worker: trial.at('killer').worker }))
    trial.boots()
  }
  assert.deepEqual(told, ['killer refused poison'])
  assert.equal(only(trial.history, 'run').filter(({ job }) => job === 'killer').length, 20)
})
