/** CNV's rules of placement, with costs as work and unscaled times. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answers, only, sent, Trial } from '../../brain/testing/trial.ts'
import { refusal } from '../../front/problem.ts'
import type { Action } from '../../model/action.ts'
import type { FailureKind } from '../../model/attempt.ts'
import { presetOf } from '../presets.ts'
import { cnvConstants } from './cell.ts'
import { workPerCost } from './preset.ts'

const minute = 60_000
/** A unit of work is a unit of cost. */
const preset = presetOf('cnv', { workScale: workPerCost })

/** `functions`: their concurrency. */
function trialOf(workers: string[], { functions = 0 } = {}): Trial {
  const { scheduler, placing, discipline, scale, limits, overflow } = preset
  const { perWorkload: _, ...rule } = overflow!
  const trial = new Trial({
    ...{
      scheduler,
      placing: placing!,
      discipline,
      scale: { ...scale!, min: 0 },
      limits: { ...limits, pings: null, answers: null, beatMs: 0 },
    },
    ...(functions > 0 && { overflow: { ...rule, concurrency: functions, workPerSecond: 1000 } }),
  })
  for (const id of workers) trial.joins(id, { slots: 100, workPerSecond: 1000 })
  return trial
}

/** Jobs of these costs arrive, named by index and cost. */
function come(trial: Trial, ...costs: number[]): string[] {
  return costs.flatMap((work, i) => sent(trial.arrives(`${i}:${work}`, { work })))
}

const loads = (trial: Trial) => trial.view.workers.map(({ figures }) => figures.loadPercent)

/** An attempt in a function fails. */
function endsAway(trial: Trial, job: string, kind: FailureKind | 'finished'): Action[] {
  const { attempt } = only(trial.history, 'overflow').findLast((action) => action.job === job)!
  const token = { epoch: 1, job, attempt, worker: 'function:local' }
  return trial.tell(
    kind === 'finished' ? { type: 'finished', work: 1, ...token } : { type: 'failed', kind, ...token },
  )
}

test('CN-5 requests are classified by cost, each class up to its bound', () => {
  const trial = trialOf(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
  const classes = (cost: number) => {
    const [worker] = come(trial, cost).map((each) => each.split(' ')[1])
    const { figures } = trial.view.workers.find(({ id }) => id === worker)!
    trial.finishes(`0:${cost}`)
    return ['LIGHT', 'MEDIUM', 'HEAVY', 'SUPER_HEAVY'].filter((name) => figures[name] === 1).join()
  }
  assert.deepEqual([1, 4_000, 4_001, 8_000, 8_001, 16_000, 16_001, 1e9].map(classes), [
    'LIGHT',
    'LIGHT',
    'MEDIUM',
    'MEDIUM',
    'HEAVY',
    'HEAVY',
    'SUPER_HEAVY',
    'SUPER_HEAVY',
  ])
})

test('CN-5 with the divisor, usual requests are of all four classes', () => {
  const { placing } = presetOf('cnv')
  const perCell = cnvConstants.cellInstructions + cnvConstants.cellAccesses
  const classOf = (size: number, iterations: number) => {
    const work = size * size * iterations * perCell
    return placing!.workClasses!.find(({ mostWork }) => mostWork === null || work <= mostWork)!.name
  }
  assert.deepEqual(
    [classOf(128, 2000), classOf(256, 1000), classOf(256, 2000), classOf(256, 5000)],
    ['LIGHT', 'MEDIUM', 'HEAVY', 'SUPER_HEAVY'],
  )
})

test('CN-6 without capacity a LIGHT request goes to a function, and a larger one is queued', () => {
  const trial = trialOf(['a'], { functions: 4 })
  assert.deepEqual(come(trial, 14_000), ['0:14000 a'])
  assert.equal(only(trial.arrives('light', { work: 4_000 }), 'overflow').length, 1)
  assert.equal(only(trial.arrives('medium', { work: 4_001 }), 'wait').length, 1)
  // This one fits.
  assert.deepEqual(sent(trial.arrives('lighter', { work: 2_000 })), ['lighter a'])
  assert.equal(preset.overflow!.memoryMb, 512)
  assert.equal(preset.overflow!.perWorkload, true)
})

test('CN-6 a queued request stays queued, though a function is free again', () => {
  const trial = trialOf(['a'], { functions: 1 })
  come(trial, 16_000)
  trial.arrives('first', { work: 100 })
  assert.equal(only(trial.arrives('second', { work: 100 }), 'wait').length, 1)
  assert.deepEqual(only(endsAway(trial, 'first', 'finished'), 'overflow'), [])
  assert.deepEqual(only(trial.after(minute).tick(), 'overflow'), [])
  assert.deepEqual(sent(trial.finishes('0:16000')), ['second a'])
})

test('CN-6 a throttled request is tried there three times, after 750 ms and 1,500 ms, and then queued', () => {
  for (const kind of ['throttled', 'refused', 'timeout'] as const) {
    const trial = trialOf(['a'], { functions: 4 })
    come(trial, 16_000)
    assert.equal(only(trial.arrives('light', { work: 100 }), 'overflow').length, 1)
    endsAway(trial, 'light', kind)
    // Between attempts workers do not get it either.
    assert.deepEqual(sent(trial.finishes('0:16000')), [])
    assert.deepEqual(only(trial.after(749).tick(), 'overflow'), [])
    assert.equal(only(trial.after(1).tick(), 'overflow').length, 1)
    endsAway(trial, 'light', kind)
    assert.deepEqual(only(trial.after(1_499).tick(), 'overflow'), [])
    assert.equal(only(trial.after(1).tick(), 'overflow').length, 1)
    assert.deepEqual(sent(endsAway(trial, 'light', kind)), ['light a'])
    assert.deepEqual(answers(trial.finishes('light')), ['light result finished'])
  }
})

test('CN-6 if all functions are busy at its retry, a request is queued and does not wait forever', () => {
  const trial = trialOf(['a'], { functions: 1 })
  come(trial, 16_000)
  trial.arrives('light', { work: 100 })
  endsAway(trial, 'light', 'throttled')
  trial.arrives('other', { work: 100 })
  assert.deepEqual(only(trial.after(750).tick(), 'overflow'), [])
  endsAway(trial, 'other', 'finished')
  assert.deepEqual(trial.view.waiting, ['light'])
  assert.deepEqual(answers(trial.after(5 * minute - 1).tick()), [])
  assert.deepEqual(answers(trial.after(1).tick()), ['light refused waited'])
})

test('CN-6 after any other failure of a function the request is queued at once', () => {
  const trial = trialOf(['a'], { functions: 4 })
  come(trial, 16_000)
  trial.arrives('light', { work: 100 })
  endsAway(trial, 'light', 'unreachable')
  assert.deepEqual(sent(trial.finishes('0:16000')), ['light a'])
})

test('CN-7 retries go first, then the lightest class, each in order of arrival', () => {
  const trial = trialOf(['a', 'b'])
  come(trial, 16_000, 16_000)
  for (const [id, work] of [
    ['super', 20_000],
    ['heavy', 9_000],
    ['medium', 5_000],
    ['light', 10],
    ['light2', 10],
  ] as const)
    trial.arrives(id, { work })
  trial.fails('0:16000', 'crash')
  assert.deepEqual(trial.view.waiting.toSorted(), ['0:16000', 'super'])
  // On b the job that failed on a goes first.
  const actions = trial.finishes('1:16000')
  assert.deepEqual(sent(actions), ['0:16000 b'])
  assert.deepEqual(
    only(trial.history, 'run')
      .slice(2)
      .map(({ job }) => job),
    ['light', 'light2', 'medium', 'heavy', '0:16000'],
  )
})

test('CN-7 an attempt that waited for five minutes is rejected with 503 and the reason', () => {
  const trial = trialOf(['a'])
  come(trial, 16_000)
  trial.arrives('late', { work: 9_000 })
  assert.deepEqual(answers(trial.after(5 * minute - 1).tick()), [])
  const actions = trial.after(1).tick()
  assert.deepEqual(answers(actions), ['late refused waited'])
  const { status, message } = refusal(only(actions, 'answer')[0]!.reason)
  assert.deepEqual(
    [status, message],
    [503, 'It waited in the queue for 5 min, the limit, and no worker had room for it.'],
  )
  assert.equal(trial.view.jobs, 1)
})

test('CN-7 each attempt has its own waiting budget', () => {
  const trial = trialOf(['a', 'b'])
  come(trial, 16_000, 16_000)
  trial.arrives('late', { work: 9_000 })
  trial.after(4 * minute).tick()
  assert.deepEqual(sent(trial.finishes('1:16000')), ['late b'])
  trial.fails('late', 'crash')
  assert.deepEqual(trial.view.waiting, ['late'])
  assert.deepEqual(answers(trial.after(4 * minute).tick()), [])
  assert.deepEqual(answers(trial.after(minute).tick()), ['late refused waited'])
})

test('CN-8 jobs are packed at low load and spread at high load, with hysteresis', () => {
  const trial = trialOf(['a', 'b'])
  // Below a mean of 40 %: packed.
  assert.deepEqual(come(trial, 2_000, 3_000, 2_000), ['0:2000 a', '1:3000 a', '2:2000 a'])
  assert.deepEqual(loads(trial), [44, 0])
  // From 22 % to 50 %: still packed, also between the bounds.
  assert.deepEqual(sent(trial.arrives('p', { work: 9_000 })), ['p a'])
  assert.deepEqual(sent(trial.arrives('q', { work: 1_000 })), ['q b'])
  assert.deepEqual(loads(trial), [100, 6])
  assert.deepEqual(sent(trial.arrives('r', { work: 6_000 })), ['r b'])
  // 72 %: spread, down to 40 %.
  assert.deepEqual(sent(trial.arrives('s', { work: 100 })), ['s b'])
  trial.finishes('p')
  assert.deepEqual(loads(trial), [44, 44])
  assert.deepEqual(sent(trial.arrives('t', { work: 2_500 })), ['t a'])
  assert.deepEqual(sent(trial.arrives('u', { work: 100 })), ['u b'])
  for (const job of ['t', '1:3000']) trial.finishes(job)
  assert.deepEqual(loads(trial), [25, 45])
  assert.deepEqual(sent(trial.arrives('v', { work: 100 })), ['v b'])
})

test('CN-8 at a mean of 60 % jobs are still packed, at 40 % still spread', () => {
  const trial = trialOf(['a', 'b'])
  for (const [job, work] of [
    ['a1', 6_400],
    ['a2', 7_600],
    ['b1', 5_199],
    ['b2', 1],
  ] as const)
    trial.arrives(job, { work })
  for (const job of ['a1', 'a2']) assert.equal(trial.at(job).worker, 'a')
  // The last one is packed onto a.
  assert.equal(trial.at('b2').worker, 'a')
  assert.deepEqual(sent(trial.arrives('sixty', { work: 1 })), ['sixty a'])
  assert.deepEqual(sent(trial.arrives('above', { work: 1 })), ['above b'])
  for (const job of ['a1', 'sixty', 'above']) trial.finishes(job)
  assert.deepEqual(sent(trial.arrives('forty', { work: 1 })), ['forty b'])
  for (const job of ['forty', 'b2']) trial.finishes(job)
  assert.deepEqual(sent(trial.arrives('below', { work: 1 })), ['below a'])
})

test('CN-8 a worker whose capacity would be exceeded is skipped', () => {
  const trial = trialOf(['a', 'b'])
  assert.deepEqual(come(trial, 10_000, 6_000), ['0:10000 a', '1:6000 a'])
  assert.deepEqual(sent(trial.arrives('more', { work: 1 })), ['more b'])
  assert.deepEqual(sent(trial.arrives('most', { work: 16_000 })), [])
})

test('CN-8 only an idle worker takes a SUPER_HEAVY request', () => {
  const trial = trialOf(['a', 'b'])
  come(trial, 10)
  assert.deepEqual(sent(trial.arrives('huge', { work: 90_000 })), ['huge b'])
  assert.deepEqual(sent(trial.arrives('huge2', { work: 90_000 })), [])
  assert.deepEqual(sent(trial.finishes('0:10')), ['huge2 a'])
})

test('CN-8 only ready workers get requests', () => {
  const trial = trialOf(['a', 'b'])
  trial.tell({ type: 'drain', worker: 'a' })
  assert.deepEqual(come(trial, 10), ['0:10 b'])
})

test('CN-9 a request is retried three times, elsewhere unless no other worker exists', () => {
  const trial = trialOf(['a', 'b'])
  assert.deepEqual(come(trial, 10), ['0:10 a'])
  assert.deepEqual(sent(trial.fails('0:10', 'crash')), ['0:10 b'])
  assert.deepEqual(sent(trial.fails('0:10', 'unreachable')), ['0:10 a'])
  assert.deepEqual(sent(trial.fails('0:10', 'killed')), ['0:10 a'])
  const actions = trial.fails('0:10', 'crash')
  assert.deepEqual(answers(actions), ['0:10 refused retries'])
  const { status, message } = refusal(only(actions, 'answer')[0]!.reason)
  assert.equal(status, 503)
  assert.match(message, /retried 3 times on workers, and every attempt failed \(the last one: crash\)/)
})

test('CN-9 an in-flight forward is cancelled when it is no longer needed', () => {
  const trial = trialOf(['a'])
  come(trial, 10)
  assert.equal(only(trial.tell({ type: 'cancelled', job: '0:10' }), 'cancel')[0]!.worker, 'a')
})
