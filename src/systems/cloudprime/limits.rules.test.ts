/** What the preset's limits lead to, and the machine of its authors. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { only, sent, Trial } from '../../brain/testing/trial.ts'
import { question } from '../../estimate/testing/question.ts'
import { memoryLedger } from '../../ledger/testing/memory-ledger.ts'
import { poisson } from '../../simulate/arrivals.ts'
import { presetRun } from '../../simulate/preset-run.ts'
import { simulate } from '../../simulate/simulate.ts'
import { lognormal } from '../../simulate/sizes.ts'
import { estimatorOf } from '../estimators.ts'
import { presetOf } from '../presets.ts'
import { PresetTrial } from '../testing/presets.ts'

const [intermediate, max] = [161_751_155, 1_272_110_814]

test('CP-6 the rank of a running request is MAX, that of an unknown one its number', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-cloudprime-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  const ledger = memoryLedger()
  const asked = (n: string) =>
    question({}, { workload: 'factorize', codeHash: 'code', key: `{"n":"${n}"}`, params: { n } })
  ledger.recordMetrics({
    ...{ workload: 'factorize', codeHash: 'code', parameters: '{"n":"15"}', at: 1, running: true },
    ...{ worker: 'w1', attempt: 'j1/1', work: 7, tally: '{}' },
  })
  const estimator = estimatorOf(presetOf('cloudprime').estimator!, { ledger, dataDir, log: assert.fail })
  const rule = estimator.rule('factorize', 'meter')
  for (const n of ['15', '983732']) await estimator.look?.(asked(n))
  assert.equal(rule.guess(asked('15'))?.value, max)
  assert.equal(rule.guess(asked('983732'))?.value, 983_732)
  await estimator.close?.()
})

test('CP-12 CP-10 it starts with two workers and grows to ten', () => {
  const trial = new PresetTrial('cloudprime')
  assert.equal(trial.view.booting.length, 2)
  trial.boots()
  for (let i = 0; i < 200 && trial.view.ready < 12; i++) {
    for (let k = 0; k < 12; k++) trial.arrives(`${i}-${k}`, { work: max })
    trial.after(180_000).tick()
    trial.boots()
    if (i > 30) break
  }
  assert.equal(trial.view.ready, 10)
})

test('CP-7 on the machine of its authors INTERMEDIATE takes about a minute, MAX about ten; CP-10 it boots in 2.5 min', () => {
  const { workPerSecond, cores, bootMs } = presetOf('cloudprime').machine!
  const minutes = (rank: number) => rank / (workPerSecond * cores) / 60
  assert.ok(Math.abs(minutes(intermediate) - 1) < 0.25, `${minutes(intermediate)}`)
  assert.ok(Math.abs(minutes(max) - 10) < 2.5, `${minutes(max)}`)
  assert.equal(bootMs, 150_000)
})

test('CP-9 a worker has room for all requests of one class and short ones beside them', () => {
  // Short requests have no limit of their own; beyond its slots a worker takes none.
  assert.equal(presetOf('cloudprime').slots, 64)
})

test('CP-13 the time to answer a ping is 3 s, at least half a second, and at most four fifths of the interval', () => {
  const answers = [1, 2, 10, 40, 100].map((timeScale) => {
    const { pings } = presetOf('cloudprime', { timeScale }).limits!
    return pings!.answerMs
  })
  assert.deepEqual(answers, [3000, 1500, 500, 500, 240])
})

/** Workers like the authors' machine, which send neither heartbeats nor answers to pings. */
function trialOf(workers: number, timeScale = 1): Trial {
  const { scheduler, placing, discipline, limits, machine } = presetOf('cloudprime', { timeScale })
  const { workPerSecond, cores } = machine!
  const trial = new Trial({
    scheduler,
    placing: placing!,
    discipline,
    limits: { ...limits, pings: null, beatMs: 0 },
  })
  for (let i = 0; i < workers; i++) trial.joins(`w${i}`, { slots: 64, workPerSecond, cores })
  return trial
}

test('CP-16 a request is placed again however often its worker is unreachable; one that takes down twenty is rejected', () => {
  const trial = trialOf(30)
  trial.arrives('unlucky', { work: 1 })
  for (let i = 0; i < 100; i++) assert.equal(sent(trial.fails('unlucky', 'unreachable')).length, 1)
  trial.arrives('killer', { work: 1 })
  for (let i = 0; i < 19; i++)
    assert.deepEqual(only(trial.tell({ type: 'lost', worker: trial.at('killer').worker }), 'answer'), [])
  const last = trial.tell({ type: 'lost', worker: trial.at('killer').worker })
  assert.deepEqual(
    only(last, 'answer').map(({ reason }) => reason.code),
    ['poison'],
  )
})

test('CP-16 a request without an answer is scheduled again after 2 h, whatever its rank, then after 4 h', () => {
  for (const work of [1, max]) {
    const trial = trialOf(2)
    assert.equal(sent(trial.arrives('r', { work })).length, 1)
    for (const limitMs of [7_200_000, 14_400_000]) {
      assert.deepEqual(only(trial.after(limitMs - 1).tick(), 'cancel'), [])
      const late = trial.after(1).tick()
      assert.deepEqual([only(late, 'cancel').length, sent(late).length], [1, 1], `rank ${work}`)
    }
  }
})

test('CP-16 in divided times a request still has at least 10 s for its answer', () => {
  for (const [timeScale, limitMs] of [
    [60, 120_000],
    [720, 10_000],
    [1000, 10_000],
  ] as const) {
    const trial = trialOf(2, timeScale)
    trial.arrives('r', { work: 1 })
    assert.deepEqual(only(trial.after(limitMs - 1).tick(), 'cancel'), [], `time scale ${timeScale}`)
    assert.equal(sent(trial.after(1).tick()).length, 1, `time scale ${timeScale}`)
  }
})

/** The intervals between the heartbeats of each worker, in whole milliseconds. */
function beatIntervals(timeScale: number): Set<number> {
  const run = { seed: 1, jobs: 20, arrivals: poisson(0.05 * timeScale), sizes: lognormal(0, 1) }
  const intervals = new Set<number>()
  const last = new Map<string, number>()
  simulate(presetRun('cloudprime', { ...run, errorSigma: 0, timeScale }), {
    observer: {
      observe(event, _actions, now) {
        if (event.type !== 'reported') return
        const before = last.get(event.worker)
        if (before !== undefined) intervals.add(Math.round(now - before))
        last.set(event.worker, now)
      },
    },
  })
  return intervals
}

test('CP-13 workers send heartbeats every second, and more often when times are divided by more than 15', () => {
  const intervals = [1, 15, 30, 60].map((timeScale) => [...beatIntervals(timeScale)])
  assert.deepEqual(intervals, [[1000], [1000], [500], [250]])
})
