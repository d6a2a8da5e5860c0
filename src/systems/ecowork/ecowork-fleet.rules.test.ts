/** EcoWork@Cloud, rule by rule: placement, functions, the fleet and faults. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { share } from '../../../test/support/thorough.ts'
import { answers, only, sent, Trial } from '../../brain/testing/trial.ts'
import type { Action } from '../../model/action.ts'
import { chaos } from '../../simulate/chaos.ts'
import { presetOf } from '../presets.ts'
import { launches, PresetTrial, steps } from '../testing/presets.ts'

const minute = 60_000
const { overflow, limits } = presetOf('ecowork')
const mostWork = 60_000_000_000
/** The most work that a function takes: a fifth of it. */
const small = 12_000_000_000
/** The time in which a worker without an answer must report. */
const heartbeatMs = 3000
const away = (actions: readonly Action[]) => only(actions, 'overflow').map(({ job }) => job)

/** A trial with this many workers, a, b, c … */
function fleet(count: number): PresetTrial {
  const trial = new PresetTrial('ecowork', { min: count })
  trial.boots()
  assert.equal(trial.view.ready, count)
  return trial
}

/** The same, with one more booting: a scale-out is under way. */
function growing(count: number): PresetTrial {
  const trial = fleet(count)
  assert.equal(launches(trial.lives(minute, 0.9)), 1)
  return trial
}

test('EW-5 a request goes to the worker with the least work, whatever the limits', () => {
  const trial = fleet(2)
  assert.deepEqual(sent(trial.arrives('x', { work: 5 * mostWork })), ['x a'])
  assert.deepEqual(sent(trial.arrives('y', { work: 3 * mostWork })), ['y b'])
  assert.deepEqual(sent(trial.arrives('z', { work: mostWork })), ['z b'])
  for (let i = 0; i < 30; i++) assert.equal(sent(trial.arrives(`s${i}`, { work: 1 })).length, 1)
})

test('EW-6 while a worker is launched, the worker with the least work within the limits takes the request', () => {
  const trial = growing(2)
  trial.arrives('a0', { work: 0.9 * mostWork })
  const crowded = trial.at('a0').worker === 'a' ? 'b' : 'a'
  for (let i = 1; i <= 10; i++)
    assert.deepEqual(sent(trial.arrives(`b${i}`, { work: 1 })), [`b${i} ${crowded}`])
  // That worker has ten requests, then the other has, and then no worker fits.
  assert.deepEqual(sent(trial.arrives('next', { work: 0.05 * mostWork })), [`next ${trial.at('a0').worker}`])
  assert.deepEqual(away(trial.arrives('small', { work: 0.1 * mostWork })), ['small'])
  trial.arrives('large', { work: 0.3 * mostWork })
  assert.deepEqual(trial.view.waiting, ['large'])
})

test('EW-6 a request of up to a fifth of the limit goes to a function, a larger one is queued and placed again', () => {
  const trial = growing(1)
  trial.arrives('full', { work: mostWork })
  assert.deepEqual(away(trial.arrives('fifth', { work: small })), ['fifth'])
  trial.arrives('more', { work: small + 1 })
  assert.deepEqual(trial.view.waiting, ['more'])
  assert.deepEqual(sent(trial.lives(1000, 0.9)), [])
  // The scale-out failed and is over.
  trial.tell({ type: 'launch-failed', launch: trial.view.booting[0]! })
  assert.deepEqual(sent(trial.lives(1000, 0.9)), ['more a'])
})

test('EW-6 the limit itself is allowed', () => {
  const trial = growing(1)
  trial.arrives('most', { work: 0.7 * mostWork })
  assert.deepEqual(sent(trial.arrives('rest', { work: mostWork - 0.7 * mostWork })), ['rest a'])
})

test('EW-6 a queued request goes to the worker that joins', () => {
  const trial = growing(1)
  trial.arrives('full', { work: mostWork })
  trial.arrives('large', { work: mostWork / 2 })
  assert.deepEqual(sent(trial.boots()), ['large b'])
})

test('EW-6 an idle worker takes a request that exceeds the limits by itself', () => {
  assert.deepEqual(sent(growing(1).arrives('huge', { work: 9 * mostWork })), ['huge a'])
})

test('EW-6 without any worker small requests go to functions', () => {
  const trial = new PresetTrial('ecowork')
  assert.deepEqual(away(trial.arrives('small', { work: small })), ['small'])
  trial.arrives('large', { work: small + 1 })
  assert.deepEqual(sent(trial.boots()), ['large a'])
})

test('EW-6 after a failed forward a small request goes to a function and a large one to another worker', () => {
  const trial = fleet(2)
  trial.arrives('small', { work: small })
  assert.deepEqual(away(trial.fails('small', 'unreachable')), ['small'])
  trial.reports('a')
  trial.arrives('large', { work: small + 1 })
  const failed = trial.at('large').worker
  assert.deepEqual(sent(trial.fails('large', 'unreachable')), [`large ${failed === 'a' ? 'b' : 'a'}`])
})

test('EW-7 every minute CPU decides; draining workers get no requests and end together when empty', () => {
  const trial = fleet(1)
  assert.deepEqual(steps(trial.lives(minute, 0.86)), ['launch'])
  trial.boots()
  assert.deepEqual(steps(trial.lives(minute, 0.5)), [])
  trial.arrives('x', { work: 1e9 })
  const x = trial.at('x').worker
  assert.deepEqual(steps(trial.lives(minute, { [x]: 0.1, [x === 'a' ? 'b' : 'a']: 0.15 })), [`drain ${x}`])
  assert.notEqual(sent(trial.arrives('y', { work: 1 }))[0], `y ${x}`)
  assert.deepEqual(steps(trial.lives(3000, 0.1)), [])
  trial.finishes('x')
  assert.deepEqual(steps(trial.lives(1000, 0.1)), [`terminate ${x}`])
})

test('EW-7 the fleet grows by a tenth, rounded up, to twenty workers, and shrinks to one', () => {
  const trial = new PresetTrial('ecowork')
  const sizesWith = (cpu: number) => {
    const sizes = new Set<number>()
    for (let i = 0; i < 25; i++) {
      trial.boots()
      sizes.add(trial.view.ready)
      trial.lives(minute, cpu)
    }
    return [...sizes]
  }
  assert.deepEqual(sizesWith(0.9), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 20])
  assert.deepEqual(sizesWith(0.1).slice(-3), [3, 2, 1])
})

test('EW-7 a dead worker is terminated at once', () => {
  const trial = fleet(2)
  assert.deepEqual(steps(trial.tell({ type: 'lost', worker: 'b' })), ['terminate b', 'launch'])
})

/** When an attempt at this work, alone on its worker, is overdue: four times its time, and a minute. */
const limitMs = ({ machine }: PresetTrial, work: number) => 60_000 + 4 * (work / machine.workPerSecond) * 1000

test('EW-8 the time limit follows the estimate: a worker that is alive gets the request again, with twice the time', () => {
  const trial = fleet(2)
  const work = mostWork
  const { timers } = trial.view
  trial.arrives('slow', { work })
  const { worker } = trial.at('slow')
  const limit = Math.ceil(limitMs(trial, work) / 1000) * 1000
  assert.deepEqual(sent(trial.lives(limit, 0.5)), [])
  const heartbeat = trial.lives(heartbeatMs, 0.5)
  assert.deepEqual(sent(heartbeat), [`slow ${worker}`])
  assert.deepEqual(
    only(heartbeat, 'cancel').map(({ job, attempt }) => [job, attempt]),
    [['slow', 1]],
  )
  assert.deepEqual(sent(trial.lives(2 * limit - 1000, 0.5)), [])
  assert.deepEqual(answers(trial.finishes('slow')), ['slow result finished'])
  assert.deepEqual([trial.view.leftBehind(), trial.view.timers], [undefined, timers])
})

test('EW-8 the time allowed for a connection is 1 s, and a tenth of the time that the request is expected to take', () => {
  const trial = fleet(1)
  // Of 10 s and of 100 s.
  const times = [mostWork, 10 * mostWork].map((work) => {
    const [run] = only(trial.arrives(`of ${work}`, { work }), 'run')
    return run!.connectMs!
  })
  assert.deepEqual(times, [2000, 11_000])
})

test('EW-9 a worker that cannot be reached is sent a heartbeat, and is dead if it does not answer', () => {
  const trial = fleet(2)
  trial.arrives('x', { work: mostWork })
  const { worker } = trial.at('x')
  trial.fails('x', 'unreachable')
  const [ping] = only(trial.history, 'ping')
  assert.equal(ping!.worker, worker)
  assert.deepEqual(only(trial.after(limits!.answers!.heartbeatMs! - 1).tick(), 'terminate'), [])
  const [dead] = only(trial.after(1).tick(), 'terminate')
  assert.deepEqual([dead!.worker, dead!.reason.code], [worker, 'heartbeat'])
})

test('EW-9 a worker that is only silent is not dead', () => {
  const { limits } = presetOf('ecowork')
  const trial = new Trial({ limits: limits! })
  trial.joins('a')
  trial.reports('a')
  assert.deepEqual(only(trial.after(1e6).tick(), 'terminate'), [])
})

test('EW-8 a larger estimate has a longer limit', () => {
  const trial = fleet(1)
  assert.ok(limitMs(trial, 10 * mostWork) > 2 * limitMs(trial, mostWork))
  trial.arrives('large', { work: 10 * mostWork })
  assert.deepEqual(sent(trial.lives(limitMs(trial, mostWork) + 10_000, 0.5)), [])
})

test('EW-8 a worker without a heartbeat is dead, and its requests move elsewhere', () => {
  const trial = fleet(2)
  trial.arrives('x', { work: mostWork })
  const dead = trial.at('x').worker
  const other = dead === 'a' ? 'b' : 'a'
  trial.after(limitMs(trial, mostWork) + 1).tick()
  trial.reports(other)
  const actions = trial.after(heartbeatMs).tick()
  assert.deepEqual(steps(actions).slice(0, 1), [`terminate ${dead}`])
  assert.deepEqual(sent(actions), [`x ${other}`])
})

test('EW-8 a request that must not be repeated is not sent again', () => {
  const trial = fleet(2)
  trial.arrives('once', { work: mostWork, safeToRepeat: false })
  trial.asks('once')
  const actions = trial.lives(10 * limitMs(trial, mostWork), 0.5, 5000)
  assert.deepEqual(sent(actions), [])
  assert.deepEqual(answers(trial.finishes('once')), ['once result finished'])
})

test("EW-8 a function's error goes to a worker, whose error is the answer", () => {
  const trial = new PresetTrial('ecowork')
  trial.arrives('x', { work: 1 })
  trial.boots()
  const token = { epoch: 1, job: 'x', attempt: 1, worker: 'function:local' }
  const actions = trial.tell({ type: 'failed', kind: 'error', message: 'out of memory', ...token })
  assert.deepEqual([answers(actions), sent(actions)], [[], ['x a']])
  assert.deepEqual(answers(trial.fails('x', 'error')), ['x error error'])
})

test('EW-8 under faults of every kind no request is lost, answered twice, or queued forever', () => {
  const { scale } = presetOf('ecowork', { timeScale: 60 })
  const { min: _, max: __, ...policy } = scale!
  const { rule, afterFailure, errorsReturn } = overflow!
  const options = {
    scale: policy,
    limits: {
      cpuEveryMs: 1000,
      attempts: limits!.attempts!,
      answers: { factor: 1, leastMs: 100, heartbeatMs: 700 },
    },
    overflow: { rule: rule!, afterFailure: afterFailure!, errorsReturn: errorsReturn!, mostWork: 300_000 },
  }
  for (let seed = 1; seed <= share(15); seed++) {
    const { hash } = chaos('least-work-guarded', seed, options)
    assert.equal(chaos('least-work-guarded', seed, options).hash, hash)
  }
})
