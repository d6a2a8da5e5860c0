/** CNV's rules about its fleet: scaling and health. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answers, only, sent, Trial } from '../../brain/testing/trial.ts'
import type { Random } from '../../lib/random.ts'
import type { Action } from '../../model/action.ts'
import { poisson } from '../../simulate/arrivals.ts'
import { presetRun } from '../../simulate/preset-run.ts'
import { simulate } from '../../simulate/simulate.ts'
import { lognormal } from '../../simulate/sizes.ts'
import { presetOf } from '../presets.ts'
import { workPerCost } from './preset.ts'

const minute = 60_000
/** A unit of work is a unit of cost. */
const preset = presetOf('cnv', { workScale: workPerCost })

/** A job of this cost, named by it. */
function come(trial: Trial, work: number): string[] {
  return sent(trial.arrives(`0:${work}`, { work }))
}

/** Each worker reports this CPU share for the past minute; then the minute ends. */
function minuteAt(trial: Trial, shares: Record<string, number>, spent: Map<string, number>): Action[] {
  trial.after(minute)
  const seq = trial.now
  for (const [worker, share] of Object.entries(shares)) {
    const cpuMs = (spent.get(worker) ?? 0) + share * minute
    spent.set(worker, cpuMs)
    const held = trial.view.workers.find(({ id }) => id === worker)!.jobs.map(({ job }) => trial.held(job))
    trial.tell({ type: 'reported', worker, seq, held, cpuMs })
  }
  return trial.tick()
}

/** At the start of a minute, with one worker, `w`. */
function scaled(): { trial: Trial; at: (shares: Record<string, number>) => Action[] } {
  const { scheduler, placing, discipline, scale, limits } = preset
  const trial = new Trial({
    ...{
      scheduler,
      placing: placing!,
      discipline,
      scale: scale!,
      limits: { ...limits, pings: null, beatMs: 0 },
    },
  })
  const [launch] = only(trial.tick(), 'launch')
  trial.joins('w', { slots: 100, workPerSecond: 1000 }, { launch: launch!.launch })
  const spent = new Map<string, number>()
  trial.tell({ type: 'reported', worker: 'w', seq: 2, held: [], cpuMs: 0 })
  return { trial, at: (shares) => minuteAt(trial, shares, spent) }
}

const ema = (trial: Trial) => trial.view.scaling.emaPercent

test('CN-10 each minute the CPU of the pool enters a smoothed mean with a weight of 60 %', () => {
  const { trial, at } = scaled()
  at({ w: 0.5 })
  assert.equal(ema(trial), 50)
  at({ w: 1 })
  assert.equal(ema(trial), 80)
  at({ w: 0.2 })
  assert.equal(ema(trial), 44)
})

test('CN-10 the CPU of several workers is averaged', () => {
  const { trial, at } = scaled()
  trial.joins('x', { slots: 100 })
  trial.tell({ type: 'reported', worker: 'x', seq: 2, held: [], cpuMs: 0 })
  at({ w: 0.2, x: 0.8 })
  assert.equal(ema(trial), 50)
})

test('CN-10 at a tick, not before, drained workers end and a missing one is launched', () => {
  const { trial, at } = scaled()
  come(trial, 10)
  trial.after(1000).tell({ type: 'drain', worker: 'w' })
  assert.deepEqual(only(trial.finishes('0:10'), 'terminate'), [])
  assert.equal(trial.view.booting.length, 0)
  const actions = at({ w: 0.5 })
  assert.deepEqual(
    only(actions, 'terminate').map(({ worker, reason }) => `${worker} ${reason.code}`),
    ['w drained'],
  )
  assert.deepEqual(
    only(actions, 'launch').map(({ reason }) => reason.code),
    ['below-min'],
  )
})

test('CN-10 ticks are a minute apart: before, a worker that is missing is not launched', () => {
  const { trial } = scaled()
  trial.after(1000).tell({ type: 'lost', worker: 'w' })
  for (const ms of [29_000, 29_999]) assert.deepEqual(only(trial.after(ms).tick(), 'launch'), [])
  assert.equal(only(trial.after(1).tick(), 'launch').length, 1)
})

test('CN-11 above 85 % for two ticks with queued jobs: one more, or two if they exceed one capacity', () => {
  for (const [waiting, launches] of [
    [[16_000], 1],
    [[16_000, 1], 2],
  ] as const) {
    const { trial, at } = scaled()
    come(trial, 16_000)
    for (const [i, work] of waiting.entries()) trial.arrives(`q${i}`, { work })
    assert.deepEqual(only(at({ w: 0.9 }), 'launch'), [])
    assert.equal(only(at({ w: 0.9 }), 'launch').length, launches)
  }
})

test('CN-11 85 % is not above, and 20 % is not below', () => {
  for (const [share, launches] of [
    [0.85, 0],
    [0.86, 1],
  ] as const) {
    const { trial, at } = scaled()
    come(trial, 16_000)
    trial.arrives('q', { work: 9_000 })
    at({ w: share })
    assert.equal(only(at({ w: share }), 'launch').length, launches, String(share))
  }
  for (const [share, drains] of [
    [0.2, 0],
    [0.19, 1],
  ] as const) {
    const { trial, at } = scaled()
    trial.joins('x', { slots: 100 })
    trial.tell({ type: 'reported', worker: 'x', seq: 2, held: [], cpuMs: 0 })
    for (let i = 0; i < 4; i++) at({ w: share, x: share })
    assert.equal(only(at({ w: share, x: share }), 'drain').length, drains, String(share))
  }
})

test('CN-11 it does not grow without a queue, or beyond three', () => {
  const { trial, at } = scaled()
  come(trial, 16_000)
  for (let i = 0; i < 3; i++) assert.deepEqual(only(at({ w: 1 }), 'launch'), [])
  for (let i = 0; i < 4; i++) trial.arrives(`q${i}`, { work: 16_000 })
  assert.equal(only(at({ w: 1 }), 'launch').length, 2)
  assert.deepEqual(only(at({ w: 1 }), 'launch'), [])
})

test('CN-11 a tick that is not above 85 % restarts the count', () => {
  const { trial, at } = scaled()
  come(trial, 16_000)
  trial.arrives('q', { work: 9_000 })
  for (const share of [0.9, 0.5, 1]) assert.deepEqual(only(at({ w: share }), 'launch'), [])
  assert.equal(trial.view.scaling.looksAbove, 1)
  assert.equal(only(at({ w: 1 }), 'launch').length, 1)
})

test('CN-11 below 20 % for five ticks the least loaded worker drains, down to one', () => {
  const { trial, at } = scaled()
  trial.joins('x', { slots: 100 })
  trial.tell({ type: 'reported', worker: 'x', seq: 2, held: [], cpuMs: 0 })
  come(trial, 10)
  for (let i = 0; i < 4; i++) assert.deepEqual(only(at({ w: 0.1, x: 0.1 }), 'drain'), [])
  assert.deepEqual(
    only(at({ w: 0.1, x: 0.1 }), 'drain').map(({ worker }) => worker),
    ['x'],
  )
  assert.deepEqual(
    only(at({ w: 0.1, x: 0.1 }), 'terminate').map(({ worker }) => worker),
    ['x'],
  )
  for (let i = 0; i < 6; i++) assert.deepEqual(only(at({ w: 0 }), 'drain'), [])
})

test('CN-11 a tick that is not below 20 % restarts the count', () => {
  const { trial, at } = scaled()
  trial.joins('x', { slots: 100 })
  trial.tell({ type: 'reported', worker: 'x', seq: 2, held: [], cpuMs: 0 })
  const drains = (share: number) => only(at({ w: share, x: share }), 'drain').length
  // Smoothed: 10 % four times, 64 %, 32 %, then below 20 % five times.
  const shares = [0.1, 0.1, 0.1, 0.1, 1, 0.1, 0.1, 0.1, 0.1, 0.1]
  for (const share of shares) assert.equal(drains(share), 0)
  assert.equal(drains(0.1), 1)
})

/** With the preset's health checks, every 15 s. */
function pinged(): Trial {
  const { scheduler, placing, discipline, scale, limits } = preset
  const trial = new Trial({
    scheduler,
    placing: placing!,
    discipline,
    scale: { ...scale!, min: 0 },
    limits: limits!,
  })
  for (const id of ['a', 'b']) trial.joins(id, { slots: 100 })
  return trial
}

/** Seconds until a worker that stops answering at this second, while its reports go on, is evicted. */
function evictedAfter(stopsAt: number): number {
  const trial = pinged()
  for (; trial.now < 600_000; trial.after(1000)) {
    const [evicted] = only(trial.tick(), 'terminate')
    if (evicted) {
      assert.deepEqual([evicted.worker, evicted.reason.code], ['a', 'pings'])
      return trial.now / 1000 - stopsAt
    }
    for (const id of ['a', 'b']) trial.reports(id)
    trial.answersPings('b')
    if (trial.now / 1000 < stopsAt) trial.answersPings('a')
  }
  return Infinity
}

test('CN-12 a worker is pinged every 15 s and evicted at the third unanswered ping, after 33 to 48 s', () => {
  const seconds = [16, 20, 29, 30, 31, 44, 45].map(evictedAfter)
  assert.deepEqual(seconds, [47, 43, 34, 33, 47, 34, 33])
})

test('CN-12 the requests of an evicted worker are queued again elsewhere', () => {
  const trial = pinged()
  const lives = (ms: number, ids: string[]) => {
    for (const until = trial.now + ms; trial.now < until; ) {
      trial.after(1000).tick()
      for (const id of ids) trial.answersPings(id)
    }
  }
  lives(15_000, ['a', 'b'])
  assert.deepEqual(come(trial, 10), ['0:10 a'])
  lives(60_000, ['b'])
  assert.deepEqual(sent(trial.history), ['0:10 a', '0:10 b'])
})

test('CN-12 a fresh worker may miss sixteen', () => {
  const trial = pinged()
  while (trial.now < 227_000) trial.after(1_000).tick()
  assert.deepEqual(only(trial.history, 'terminate'), [])
  trial.after(1_000).tick()
  const { reason } = only(trial.history, 'terminate')[0]!
  assert.deepEqual([reason.code, reason.unanswered], ['pings', 16])
})

test('CN-9 a forward that is not answered in time goes to another worker, three times at most, then 503', () => {
  const trial = pinged()
  const { answers: limit } = preset.limits!
  trial.joins('c', { slots: 100 })
  trial.joins('d', { slots: 100 })
  assert.deepEqual(come(trial, 10), ['0:10 a'])
  const places = ['a']
  const ends: string[] = []
  for (; ends.length === 0 && trial.now < 100 * limit!.leastMs; ) {
    const actions = trial.after(1000).tick()
    for (const id of ['a', 'b', 'c', 'd']) trial.answersPings(id)
    places.push(...sent(actions).map((text) => text.split(' ')[1]!))
    ends.push(...answers(actions))
  }
  assert.deepEqual([new Set(places).size, places.length], [4, 4])
  assert.deepEqual(ends, ['0:10 refused retries'])
})

test('CN-11 in the simulator it grows to three under load and shrinks to one afterwards', () => {
  const busy = poisson(3)
  const arrivals = {
    name: 'a rush, then one a minute',
    next: (after: number, random: Random) =>
      after < 10 * minute ? busy.next(after, random) : after + minute,
  }
  const sizes: number[] = []
  const run = presetRun('cnv', { seed: 3, jobs: 1850, errorSigma: 0, arrivals, sizes: lognormal(0, 0.8) })
  const { virtualMs } = simulate(run, {
    observer: {
      observe: (_event, _actions, _now, brain) => {
        const { ready } = brain.view()
        if (sizes.at(-1) !== ready) sizes.push(ready)
      },
    },
  })
  assert.ok(virtualMs > 25 * minute, String(virtualMs))
  assert.deepEqual([Math.max(...sizes), sizes.at(-1)], [3, 1], sizes.join())
})
