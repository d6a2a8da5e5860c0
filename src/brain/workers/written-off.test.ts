/** Ejected workers and the scaler: which of them are replaced. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brainOf } from '../../systems/brain-spec.ts'
import type { ScaleSpec } from '../../systems/scalers.ts'
import { usualOutliers } from '../limits.ts'
import type { FleetView, Scaler } from '../scale/scaler.ts'
import { only, Trial } from '../testing/trial.ts'

const bootMs = 2_000

/** A fleet at its minimum. Each failure that another worker makes good ejects a worker, for 30 s. */
function fleet(scale: ScaleSpec, takesMs = bootMs): Trial {
  const outliers = { ...usualOutliers, failures: 1, slowdown: 1e9 }
  const trial = new Trial({ scheduler: 'srpt', scale, limits: { outliers } })
  boot(trial, trial.tick(), takesMs)
  assert.equal(trial.view.ready, scale.min)
  return trial
}

/** Lets the launches join after their boot time. */
function boot(trial: Trial, actions: ReturnType<Trial['tick']>, takesMs = bootMs): void {
  const launches = only(actions, 'launch')
  trial.after(takesMs)
  for (const { launch } of launches) trial.joins(`w-${launch}`, {}, { launch })
}

let jobs = 0

/** A job fails at the worker that gets it first, and is finished elsewhere. Returns what the next tick brings. */
function eject(trial: Trial): ReturnType<Trial['tick']> {
  const job = `j${++jobs}`
  trial.arrives(job)
  const { worker } = trial.at(job)
  trial.fails(job, 'crash')
  trial.after(100).finishes(job)
  assert.ok(trial.view.workers.find(({ id }) => id === worker)?.notice, `${worker} is ejected`)
  return trial.tick()
}

const launches = (actions: ReturnType<Trial['tick']>) => only(actions, 'launch').length

test('an ejected worker is replaced, and one worker drains when it returns and the scaler wants no more', () => {
  const trial = fleet({ min: 2, max: 4, policy: 'planned', plan: [[0, 2]] })
  const actions = eject(trial)
  assert.equal(launches(actions), 1)
  boot(trial, actions)
  assert.equal(trial.view.ready, 3)
  assert.deepEqual(only(trial.after(10_000).tick(), 'launch'), [])
  const returns = trial.after(20_000).tick()
  assert.equal(only(returns, 'readmit').length, 1)
  assert.equal(only([...returns, ...trial.tick()], 'drain').length, 1)
  assert.equal(trial.view.ready, 2)
})

test('an ejection that is over before a replacement could join replaces nothing', () => {
  const trial = fleet({ min: 2, max: 4 }, usualOutliers.baseMs)
  assert.equal(launches(eject(trial)), 0)
})

test('as long as no launch has shown the boot time, nothing is replaced', () => {
  const outliers = { ...usualOutliers, failures: 1 }
  const trial = new Trial({ scheduler: 'srpt', scale: { min: 2, max: 4 }, limits: { outliers } })
  const { launch } = only(trial.joins('a'), 'launch')[0]!
  trial.joins('b')
  trial.tell({ type: 'launch-failed', launch })
  trial.after(60_000).tick()
  assert.deepEqual([trial.view.ready, trial.view.booting], [2, []])
  assert.equal(launches(eject(trial)), 0)
})

test('ejected workers count against the maximum', () => {
  const trial = fleet({ min: 2, max: 2 })
  assert.equal(launches(eject(trial)), 0)
})

test('when many workers are ejected, a quarter of the fleet is replaced and no more', () => {
  const trial = fleet({ min: 8, max: 40 })
  let launched = 0
  // At most half of the workers are ejected, the replacements included, which fail like the others.
  for (let i = 0; i < 5; i++) {
    const actions = eject(trial)
    launched += launches(actions)
    boot(trial, actions, 0)
  }
  assert.equal(launched, 2)
  assert.equal(trial.view.ready, 10)
})

test('an ejected worker that is lost is replaced once', () => {
  const trial = fleet({ min: 2, max: 4 })
  const actions = eject(trial)
  boot(trial, actions)
  const { id } = trial.view.workers.find(({ notice }) => notice)!
  assert.equal(launches([...trial.tell({ type: 'lost', worker: id }), ...trial.tick()]), 0)
  assert.equal(trial.view.ready, 2)
})

test('scalers see the capacity and the load of the workers that get jobs', () => {
  const trial = fleet({ min: 2, max: 2 })
  let seen: FleetView | undefined
  const scaler: Scaler = {
    name: 'looks',
    everyMs: 1_000,
    decide(view) {
      seen = view
      return view.ready + view.booting < 2
        ? { kind: 'scale', to: 2, reason: { code: 'below-min' } }
        : { kind: 'hold', reason: { code: 'enough' } }
    },
  }
  trial.brain = brainOf(trial.spec, { scaler })
  boot(trial, trial.tick())
  for (const job of ['one', 'two']) trial.arrives(job, { work: 1e6 })
  assert.deepEqual(figures(), { ready: 2, cores: 2, busyCores: 2 })
  const before = seen!
  trial.arrives('fails', { work: 1 })
  trial.fails('fails', 'crash')
  trial.finishes('fails')
  assert.equal(trial.view.workers.filter(({ notice }) => notice).length, 1)
  assert.deepEqual(figures(), { ready: 1, cores: 1, busyCores: 1 })
  // The worker that is ejected still runs its job, which does not count.
  trial.after(5_000)
  assert.deepEqual(figures(), { ready: 1, cores: 1, busyCores: 1 })
  const after = seen!
  assert.equal(after.coreMs - before.coreMs, after.busyMs - before.busyMs)
  trial.after(usualOutliers.baseMs).tick()
  assert.deepEqual(figures(), { ready: 2, cores: 2, busyCores: 2 })

  function figures() {
    trial.after(1_000).tick()
    const { ready, cores, busyCores } = seen!
    return { ready, cores, busyCores }
  }
})
