/** CloudPrime's rules as the preset composes them. Rules of one policy are tested beside it; CP-1 to CP-4 also live. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import factorize from '../../../workloads/factorize.ts'
import { readParams } from '../../../workloads/testing/params.ts'
import { only, sent, Trial } from '../../brain/testing/trial.ts'
import type { MetricsRow } from '../../ledger/metrics.ts'
import { memoryLedger } from '../../ledger/testing/memory-ledger.ts'
import { workOf } from '../../model/metrics.ts'
import { presetRun } from '../../simulate/preset-run.ts'
import { simulate } from '../../simulate/simulate.ts'
import { fakeContext } from '../../workload/fake-context.ts'
import { presetOf } from '../presets.ts'
import { cloudPrimeRow } from './rows.ts'

const preset = presetOf('cloudprime')
const [intermediate, max] = [161_751_155, 1_272_110_814]

/** The brain of the preset, with its first two workers. */
function trialOf(): Trial {
  const { scheduler, placing, discipline, scale, limits } = preset
  const trial = new Trial({ scheduler, placing: placing!, discipline, scale: scale!, limits: limits! })
  const launches = only(trial.tick(), 'launch').map(({ launch }) => launch)
  assert.equal(launches.length, 2)
  for (const [i, id] of ['a', 'b'].entries()) trial.joins(id, { slots: 64 }, { launch: launches[i]! })
  return trial
}

/** Each second these workers answer pings, and report their jobs and CPU shares. */
function beats(
  trial: Trial,
  seconds: number,
  cpus: Record<string, number>,
  seen = new Map<string, number>(),
) {
  const actions = []
  for (let i = 0; i < seconds; i++) {
    trial.after(1000)
    actions.push(...trial.tick())
    for (const { id, jobs } of trial.view.workers) {
      if (cpus[id] === undefined) continue
      const cpuMs = (seen.get(id) ?? 0) + cpus[id] * 1000
      seen.set(id, cpuMs)
      const held = jobs.map(({ job }) => trial.held(job))
      actions.push(...trial.tell({ type: 'reported', worker: id, seq: trial.now, held, cpuMs }))
      actions.push(...trial.answersPings(id))
    }
  }
  return actions
}

test('CP-1 one number, a semiprime, is answered with its factors', async () => {
  assert.deepEqual(preset.workloads, ['factorize'])
  assert.equal(preset.discipline, 'sharing')
  const answer = await factorize.run(readParams(factorize, { n: '999985999949' }), fakeContext())
  assert.deepEqual(answer, { n: '999985999949', factors: ['999983', '1000003'] })
})

test('CP-2 rank = 0.4 instructions + 0.15 basic blocks + 0.05 field loads + 0.4 stack loads', () => {
  assert.ok(preset.meter && preset.meter !== 'off')
  // Metrics are counted separately, so that the row has them all.
  assert.equal(preset.meter.mode, 'regions')
  const tally = { instructions: 1000, blocks: 100, fieldLoads: 40, stackLoads: 500, stores: 77, calls: 9 }
  assert.equal(workOf(tally, preset.meter.formula), 400 + 15 + 2 + 200)
})

const row = (more: Partial<MetricsRow>): MetricsRow => ({
  ...{ workload: 'factorize', codeHash: 'code', parameters: '{"n":"15"}', at: 1, running: true },
  ...{ worker: 'w1', attempt: 'j1/1', work: 617 },
  tally: JSON.stringify({ instructions: 1000, blocks: 100, fieldLoads: 40, stackLoads: 500 }),
  ...more,
})

/** The table after these writes, in order. */
async function kept(...rows: Partial<MetricsRow>[]) {
  const ledger = memoryLedger()
  for (const each of rows) ledger.recordMetrics(row(each))
  return cloudPrimeRow((await ledger.metricsFor(row({})))!)
}

test('CP-3 a running request reports metrics every 100,400,724 basic blocks, and only its owner writes them', async () => {
  assert.deepEqual(preset.following, { metricsEvery: { blocks: 100_400_724 } })
  assert.equal((await kept({}, { work: 700 })).rank, 700)
  assert.equal((await kept({}, { work: 700, worker: 'w2' })).rank, 617)
  assert.equal((await kept({}, { work: 700, attempt: 'j2/1' })).rank, 617)
  assert.equal((await kept({ running: false }, { work: 700 })).rank, 617)
})

test('CP-4 final metrics complete a row of any owner, and a complete row is not written again', async () => {
  const final = { running: false, work: 900 }
  const byOther = await kept({}, { ...final, worker: 'w2', attempt: 'j2/1' })
  assert.deepEqual([byOther.rank, byOther.running, byOther.instanceId], [900, false, 'w2'])
  assert.equal((await kept({}, final, { running: false, work: 901 }, { work: 1 })).rank, 900)
})

test('CP-5 a row has the number, the metrics, rank, running and its owner', async () => {
  assert.deepEqual(await kept({}), {
    ...{ parameter: '15', basicBlocks: 100, fieldLoads: 40, instructions: 1000, stackLoads: 500, rank: 617 },
    ...{ running: true, instanceId: 'w1', threadId: 'j1/1' },
  })
})

test('CP-5 a running row whose owner was lost is taken over by a later run of the same number', async () => {
  const ledger = memoryLedger()
  ledger.recordMetrics(row({}))
  ledger.releaseMetrics({ worker: 'w1' })
  ledger.recordMetrics(row({ worker: 'w2', attempt: 'j2/1', work: 20 }))
  ledger.recordMetrics(row({ work: 700 }))
  const taken = cloudPrimeRow((await ledger.metricsFor(row({})))!)
  assert.deepEqual([taken.instanceId, taken.threadId, taken.rank], ['w2', 'j2/1', 20])
})

test('CP-7 the preset has the classes of its authors, and --work-scale divides them', () => {
  const limits = { mostIntermediate: 20, mostMax: 10 }
  assert.deepEqual(preset.placing?.classes, { intermediate, max, ...limits, graceMs: 180_000 })
  const scaled = presetOf('cloudprime', { timeScale: 60, workScale: 1000 })
  assert.deepEqual(scaled.placing?.classes, {
    intermediate: intermediate / 1000,
    max: max / 1000,
    ...limits,
    graceMs: 3000,
  })
})

test('CP-12 it starts with two workers, and shows id, CPU, requests, MAX and INTERMEDIATE requests of each', () => {
  const trial = trialOf()
  trial.arrives('m', { work: max })
  trial.arrives('i', { work: intermediate })
  trial.arrives('s', { work: 1 })
  beats(trial, 80, { a: 0.5, b: 0.25 })
  const facts = trial.view.workers.map(({ id, cpu, figures }) => ({ id, cpu, ...figures }))
  assert.deepEqual(facts, [
    { id: 'a', cpu: 0.5, requests: 2, max: 1, intermediate: 0, lowCpuFor: 0 },
    { id: 'b', cpu: 0.25, requests: 1, max: 0, intermediate: 1, lowCpuFor: 0 },
  ])
})

test('CP-13 three unanswered pings in a row, 3 s each: dead, and terminated; CPU is polled every 75 s', () => {
  const trial = trialOf()
  assert.equal(preset.limits?.cpuEveryMs, 75_000)
  assert.deepEqual(preset.limits?.pings, { everyMs: 30_000, answerMs: 3000, most: 3, mostFresh: 3 })
  // The time to answer has a minimum when times are divided.
  for (const timeScale of [0.1, 1, 10, 60, 1000]) {
    const { pings } = presetOf('cloudprime', { timeScale }).limits!
    assert.ok(Math.abs(pings!.everyMs - 30_000 / timeScale) < 1e-6 && pings!.answerMs < pings!.everyMs)
    assert.ok(pings!.answerMs >= 3000 / timeScale)
  }
  const until = (seconds: number) => only(beats(trial, seconds - trial.now / 1000, { b: 0.5 }), 'terminate')
  for (const id of ['a', 'b']) trial.answersPings(id)
  // Those of 30 s and 60 s are not answered.
  assert.deepEqual(until(90), [])
  beats(trial, 1, { a: 0.5, b: 0.5 })
  // The ping at 90 s was answered, so those at 120, 150 and 180 s decide.
  assert.deepEqual(until(182), [])
  const [dead] = until(183)
  assert.deepEqual([dead!.worker, dead!.reason.code], ['a', 'pings'])
})

test('CP-14 a dead worker is replaced if fewer than two others are idle', () => {
  for (const [cpu, launches] of [
    [0.5, 1],
    [0.1, 0],
  ] as const) {
    const trial = trialOf()
    for (const id of ['c', 'd']) trial.joins(id, { slots: 64 })
    const others = { b: cpu, c: cpu, d: 0.9 }
    const seen = new Map<string, number>()
    beats(trial, 80, { a: 0.5, ...others }, seen)
    const actions = beats(trial, 200, others, seen)
    assert.deepEqual(
      only(actions, 'terminate').map(({ worker }) => worker),
      ['a'],
    )
    assert.equal(only(actions, 'launch').length, launches)
  }
})

test('CP-15 a third worker is ended after eleven minutes of low CPU, and its requests move elsewhere', () => {
  const trial = trialOf()
  trial.joins('c', { slots: 64 })
  for (const id of ['s1', 's2', 's3']) trial.arrives(id, { work: 1 })
  assert.equal(trial.at('s3').worker, 'c')
  const seen = new Map<string, number>()
  const calm = beats(trial, 11 * 60, { a: 0.5, b: 0.5, c: 0.1 }, seen)
  assert.deepEqual(only(calm, 'terminate'), [])
  const actions = beats(trial, 120, { a: 0.5, b: 0.5, c: 0.1 }, seen)
  const [end] = only(actions, 'terminate')
  assert.deepEqual([end!.worker, end!.reason.code], ['c', 'low-cpu'])
  assert.deepEqual(sent(actions), ['s3 a'])
  assert.deepEqual(only(actions, 'launch'), [])
})

test('CP-16 requests of a dead worker, and those whose connection failed, are placed again', () => {
  const trial = trialOf()
  trial.arrives('m1', { work: max })
  trial.arrives('i1', { work: intermediate })
  trial.arrives('s1', { work: 1 })
  const actions = beats(trial, 100, { b: 0.5 })
  // The MAX does not fit beside an INTERMEDIATE: scheduling starts a worker for it.
  assert.deepEqual(sent(actions), ['s1 b'])
  assert.ok(only(actions, 'launch').some(({ reason }) => reason.code === 'misfit'))
  const [launch] = only(actions, 'launch').filter(({ reason }) => reason.code === 'misfit')
  trial.joins('c', { slots: 64 }, { launch: launch!.launch })
  assert.deepEqual(sent(beats(trial, 200, { b: 0.5, c: 0.1 })), ['m1 c'])
  assert.deepEqual(sent(trial.fails('s1', 'unreachable')), ['s1 c'])
  // No client got an answer.
  assert.deepEqual(only(trial.history, 'answer'), [])
})

test('CP-9 to CP-11 in a whole run: classes never share a worker, limits hold, and every request is answered', () => {
  let next = 0
  // A surge of the largest after four minutes, then of the middle ones, with short ones between.
  const sizes = {
    name: 'crowds',
    meanSeconds: 100,
    draw() {
      const i = next++
      return i % 5 === 4 ? 1 : i < 150 ? 700 : 90
    },
  }
  const arrivals = { name: 'crowds', next: (after: number) => Math.max(240_000, after + 1000) }
  const run = presetRun('cloudprime', { seed: 1, jobs: 300, arrivals, sizes, errorSigma: 0 })
  const met: string[] = []
  let most = 0
  const result = simulate(run, {
    observer: {
      observe(_event, actions, _now, brain) {
        if (!actions.some(({ type }) => type === 'run')) return
        for (const { id, figures } of brain.view().workers) {
          const [large, middle] = [Number(figures.max), Number(figures.intermediate)]
          if (large > 10 || middle > 20 || (large > 0 && middle > 0)) met.push(`${id}: ${large} ${middle}`)
          most = Math.max(most, large)
        }
      },
    },
  })
  assert.deepEqual(met, [])
  assert.equal(most, 10)
  assert.equal(result.summary().jobs, 300)
  assert.equal(result.money().peakWorkers, 10)
})
