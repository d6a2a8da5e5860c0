/** Jobs that would queue overflow to functions if that pays; workers run the jobs that fail there. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Action } from '../../model/action.ts'
import type { AttemptToken, FailureKind } from '../../model/attempt.ts'
import type { Event } from '../../model/event.ts'
import { explain } from '../../story/reasons.ts'
import { type BrainSpec, brainOf } from '../../systems/brain-spec.ts'
import { answers, only, sent, Trial } from '../testing/trial.ts'
import { type OverflowOptions, overflowSpec } from './overflow-spec.ts'

/** As fast as workers, 1,000 units per second; no cold starts; waiting is expensive. */
const functions: OverflowOptions = {
  concurrency: 2,
  workPerSecond: 1000,
  coldMs: 0,
  prices: { waitingHour: 1000 },
}
const name = 'function:local'

/** One worker with one core that runs a job of 10 s, and functions. */
function busy(overflow: Partial<OverflowOptions> = {}, spec: Partial<BrainSpec> = {}): Trial {
  const trial = new Trial({ scheduler: 'srpt', overflow: { ...functions, ...overflow }, ...spec })
  trial.joins('w', { slots: 1 })
  trial.arrives('first', { work: 10_000 })
  return trial
}

const away = (actions: readonly Action[]) => only(actions, 'overflow').map(({ job }) => job)
const ofJob = (job: string, attempt = 1): AttemptToken & { worker: string } => ({
  epoch: 1,
  job,
  attempt,
  worker: name,
})
const finishes = (job: string, attempt = 1): Event => ({
  type: 'finished',
  work: 1000,
  ...ofJob(job, attempt),
})
const fails = (job: string, kind: FailureKind): Event => ({ type: 'failed', kind, ...ofJob(job) })

test('a job that would queue goes to a function, and its answer counts', () => {
  const trial = busy()
  const actions = trial.arrives('second', { work: 11_000 })
  assert.deepEqual(away(actions), ['second'])
  assert.deepEqual(trial.view.away, [{ job: 'second', attempt: 1, function: name }])
  assert.deepEqual([trial.view.placed, trial.view.waiting.length, trial.view.jobs], [1, 0, 2])
  assert.match(
    explain(only(actions, 'overflow')[0]!.reason),
    /^the fleet would start it in 5 s, a function finishes it in 11 s, and costs [\d.]+ where/,
  )
  assert.deepEqual(answers(trial.after(11_000).tell(finishes('second'))), ['second result finished'])
  assert.deepEqual(trial.view.away, [])
})

test('a job to be retried in a function goes to workers if all functions are busy by then', () => {
  const trial = busy({ concurrency: 1, retries: { most: 3, backoffMs: 9000 } })
  assert.deepEqual(away(trial.arrives('second', { work: 11_000 })), ['second'])
  trial.tell(fails('second', 'throttled'))
  trial.after(8000)
  assert.deepEqual(away(trial.arrives('third', { work: 11_000 })), ['third'])
  assert.deepEqual(away(trial.after(1000).tick()), [])
  assert.deepEqual(trial.view.waiting, ['second'])
  trial.tell(finishes('third'))
  assert.deepEqual(away(trial.after(9000).tick()), [])
  assert.deepEqual(sent(trial.finishes('first')), ['second w'])
})

test('the high end of an unproven interval does not keep a job from functions, its estimate does', () => {
  const sends = (work: number, more: object) =>
    away(busy({ timeoutMs: 1_500_000 }).arrives('second', { work, high: work * 1e6, ...more })).length > 0
  assert.equal(sends(11_000, { unproven: true }), true)
  assert.equal(sends(11_000, {}), false, 'the function would run out of time')
  assert.equal(sends(13_000, { unproven: true }), false, 'a hundred times as long is too long')
})

test('a launch that is overdue is expected to be overdue for as long again', () => {
  const trial = new Trial({ scheduler: 'srpt', overflow: functions, scale: { min: 1, max: 1 } })
  trial.tick()
  const [launch] = only(trial.history, 'launch')
  assert.ok(launch)
  // A boot is assumed to take 30 s.
  const [action] = only(trial.after(50_000).arrives('early', { work: 1000 }), 'overflow')
  assert.equal(action?.reason.waitMs, 20_000)
})

test('a job that finds a free core does not overflow', () => {
  const trial = new Trial({ scheduler: 'srpt', overflow: functions })
  trial.joins('w')
  assert.deepEqual(sent(trial.arrives('only')), ['only w'])
})

test('without functions, or if waiting is cheap, the job is queued', () => {
  const waits = (trial: Trial) => {
    const actions = trial.arrives('second', { work: 11_000 })
    assert.deepEqual(away(actions), [])
    assert.deepEqual(trial.view.waiting, ['second'])
  }
  waits(busy({ prices: { waitingHour: 0.0001 } }))
  const none = new Trial({ scheduler: 'srpt' })
  none.joins('w', { slots: 1 })
  none.arrives('first', { work: 10_000 })
  waits(none)
})

test("the price of a worker's time counts in favour of the function", () => {
  const goes = (workerHour: number) =>
    away(busy({ prices: { waitingHour: 0, workerHour } }).arrives('second', { work: 11_000 })).length === 1
  assert.equal(goes(0.01), false)
  // 0.5 GB costs 0.03 per hour.
  assert.equal(goes(0.04), true)
})

test('no job goes to a function that starts or runs too slowly', () => {
  assert.deepEqual(away(busy({ coldMs: 6000 }).arrives('second', { work: 11_000 })), [])
  assert.deepEqual(away(busy({ workPerSecond: 600 }).arrives('second', { work: 11_000 })), [])
})

test('jobs that are too long, too large or must not be repeated never go to functions', () => {
  const goes = (job: Parameters<Trial['arrives']>[1]) =>
    away(busy().arrives('second', { work: 11_000, ...job })).length === 1
  assert.equal(goes({}), true)
  assert.equal(goes({ high: 800_000 }), false)
  assert.equal(goes({ memoryMb: 513 }), false)
  assert.equal(goes({ safeToRepeat: false }), false)
})

test('concurrency limits the jobs in functions; when one ends, a queued job follows', () => {
  const trial = busy()
  for (const id of ['a', 'b', 'c']) trial.arrives(id, { work: 11_000 })
  assert.deepEqual(
    trial.view.away.map(({ job }) => job),
    ['a', 'b'],
  )
  assert.deepEqual(trial.view.waiting, ['c'])
  assert.deepEqual(away(trial.after(100).tell(finishes('a'))), ['c'])
})

test('a job that waits longer than expected overflows at the next look at the queue', () => {
  const trial = new Trial({ scheduler: 'srpt', overflow: functions })
  trial.joins('w', { slots: 1 })
  trial.arrives('long', { work: 100_000 })
  // It is shorter, but the only slot is in use.
  assert.deepEqual(away(trial.arrives('short', { work: 1000 })), [])
  assert.deepEqual(trial.view.waiting, ['short'])
  assert.deepEqual(away(trial.after(2000).tick()), ['short'])
})

test('a function still takes a job when the queue is full', () => {
  const trial = busy({}, { limits: { queue: 0 } })
  assert.deepEqual(away(trial.arrives('second', { work: 11_000 })), ['second'])
})

test('jobs wait for workers that join soon, but not for workers that join late', () => {
  const goes = (bootedMs: number) => {
    const trial = new Trial({
      scheduler: 'srpt',
      overflow: { ...functions, coldMs: 5000 },
      scale: { min: 2, max: 2 },
    })
    trial.tick()
    trial.after(bootedMs).joins('w', { slots: 1 }, { launch: '1-1' })
    trial.arrives('first', { work: 60_000 })
    return away(trial.arrives('second', { work: 61_000 })).length === 1
  }
  // The other launch began when the one that has joined did.
  assert.equal(goes(100), false)
  const alone = new Trial({ scheduler: 'srpt', overflow: { ...functions, coldMs: 5000 } })
  alone.joins('w', { slots: 1 })
  alone.arrives('first', { work: 60_000 })
  assert.deepEqual(away(alone.arrives('second', { work: 61_000 })), ['second'])
})

for (const kind of ['crash', 'killed', 'unready', 'unreachable', 'refused', 'timeout', 'limit'] as const) {
  test(`a job whose function ends with ${kind} goes to a worker`, () => {
    const trial = busy()
    trial.arrives('second', { work: 11_000 })
    const actions = trial.after(100).tell(fails('second', kind))
    assert.equal(only(actions, 'retry')[0]?.reason.code, kind)
    assert.deepEqual([trial.view.away, trial.view.waiting], [[], ['second']])
    assert.deepEqual(sent(trial.after(10_000).finishes('first')), ['second w'])
    assert.deepEqual(answers(trial.finishes('second')), ['second result finished'])
  })
}

test("a workload's own error is the answer", () => {
  const trial = busy()
  trial.arrives('second', { work: 11_000 })
  assert.deepEqual(answers(trial.tell(fails('second', 'error'))), ['second error error'])
})

test('functions that throttle get no jobs for a while, longer each time', () => {
  const trial = busy()
  trial.arrives('second', { work: 11_000 })
  trial.tell(fails('second', 'throttled'))
  assert.deepEqual(trial.view.waiting, ['second'])
  assert.deepEqual(away(trial.after(499).tick()), [])
  assert.deepEqual(away(trial.after(1).tick()), [])
  assert.deepEqual(away(trial.after(250).tick()), ['second'])
  trial.tell({ ...fails('second', 'throttled'), attempt: 2 } as Event)
  assert.deepEqual(away(trial.after(900).tick()), [])
  assert.deepEqual(away(trial.after(400).tick()), ['second'])
  // After the sixth attempt it is for workers.
  for (const attempt of [3, 4, 5]) {
    trial.tell({ ...fails('second', 'throttled'), attempt } as Event)
    assert.deepEqual(away(trial.after(60_250).tick()), ['second'])
  }
  trial.tell({ ...fails('second', 'throttled'), attempt: 6 } as Event)
  assert.deepEqual(away(trial.after(60_250).tick()), [])
})

test('a silent function is given up, and its late answer is dropped', () => {
  const trial = busy({ patienceMs: 1000 })
  trial.arrives('second', { work: 11_000 })
  assert.deepEqual(only(trial.after(109_000).tick(), 'retry'), [])
  const actions = trial.after(1000).tick()
  assert.equal(only(actions, 'cancel')[0]?.worker, name)
  assert.equal(only(actions, 'retry')[0]?.reason.code, 'function-silent')
  assert.equal(only(trial.tell(finishes('second')), 'drop').length, 1)
  assert.deepEqual(sent(trial.finishes('first')), ['second w'])
})

test('a client that disconnects and a deadline that passes cancel the attempt in a function', () => {
  const trial = busy()
  trial.arrives('second', { work: 11_000 })
  trial.arrives('third', { work: 11_000, deadlineAt: 12_000 })
  assert.deepEqual(
    trial.view.away.map(({ job }) => job),
    ['second', 'third'],
  )
  assert.equal(only(trial.tell({ type: 'cancelled', job: 'second' }), 'cancel')[0]?.worker, name)
  const actions = trial.after(12_000).tick()
  assert.deepEqual(answers(actions), ['third refused deadline'])
  assert.equal(only(actions, 'cancel')[0]?.job, 'third')
  assert.deepEqual([trial.view.away, trial.view.jobs, trial.view.leftBehind()], [[], 1, undefined])
})

test('a job whose deadline workers cannot meet goes to a function that can', () => {
  const trial = busy({ prices: { waitingHour: 0 } })
  trial.arrives('urgent', { work: 9000, low: 9000, deadlineAt: 9500 })
  const actions = trial.arrives('second', { work: 9000, low: 9000, deadlineAt: 10_000 })
  assert.deepEqual(answers(actions), [])
  assert.deepEqual(
    only(actions, 'overflow').map(({ reason }) => reason.code),
    ['overflow-deadline'],
  )
})

test('the speed of functions is learned', () => {
  const trial = new Trial({ overflow: functions })
  trial.joins('w', { slots: 1 })
  trial.arrives('first', { work: 1_000_000 })
  const functionMs: unknown[] = []
  for (let i = 0; i < 20; i++) {
    const [gone] = only(trial.arrives(`j${i}`), 'overflow')
    functionMs.push(gone?.reason.functionMs)
    trial.after(2000).tell(finishes(`j${i}`))
  }
  assert.equal(functionMs[0], 1000)
  assert.ok(Math.abs(Number(functionMs.at(-1)) - 2000) < 50, `${functionMs}`)
})

test('invalid options are rejected with the value and what is allowed', () => {
  const refused = (overflow: Partial<OverflowOptions>, message: string) =>
    assert.throws(() => brainOf({ ...new Trial().spec, overflow: { ...functions, ...overflow } }), {
      code: 'CONFIG',
      message,
    })
  refused({ concurrency: 0 }, 'overflow.concurrency = 0: must be a whole number, 1 or more')
  refused({ workPerSecond: 0 }, 'overflow.workPerSecond = 0: must be a number above 0')
  refused({ prices: { request: -1 } }, 'overflow.prices.request = -1: must be a number, 0 or more')
})

test('invalid rules for when and how often functions are used are rejected by name', () => {
  const options = { concurrency: 1, workPerSecond: 1 }
  const wrong = (more: object) => () => overflowSpec({ ...options, ...more } as OverflowOptions)
  assert.throws(wrong({ when: 'never' }), /overflow.when = never: must be any or arrival/)
  assert.throws(
    wrong({ retries: { most: 0, backoffMs: 1 } }),
    /overflow.retries.most = 0: must be a whole number/,
  )
  assert.throws(wrong({ retries: { most: 1, backoffMs: -1 } }), /overflow.retries.backoffMs = -1: must be/)
})
