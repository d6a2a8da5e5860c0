import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Action } from '../../model/action.ts'
import type { ScaleSpec } from '../../systems/scalers.ts'
import { only, sent, Trial } from '../testing/trial.ts'

/** Three workers, two of which are to be drained later. */
function shrinking(scale: Partial<ScaleSpec> = {}): Trial {
  const trial = new Trial({
    scheduler: 'srpt',
    scale: {
      min: 0,
      max: 5,
      policy: 'planned',
      plan: [
        [0, 3],
        [100_000, 1],
      ],
      ...scale,
    },
  })
  for (const { launch } of only(trial.tick(), 'launch')) trial.joins(`w${launch}`, {}, { launch })
  return trial
}

const drained = (actions: readonly Action[]) => only(actions, 'drain').map(({ worker }) => worker)

test('the workers that are empty soonest drain, and the reason names how long that takes', () => {
  const trial = shrinking()
  trial.arrives('long', { work: 500_000 })
  trial.arrives('short', { work: 120_000 })
  trial.arrives('middle', { work: 300_000 })
  trial.now = 100_000
  const actions = trial.tick()
  const places = ['short', 'middle'].map((job) => trial.at(job).worker)
  assert.deepEqual(drained(actions), places)
  assert.deepEqual(
    only(actions, 'drain').map(({ reason }) => [reason.code, reason.drainMs]),
    [
      ['planned', 20_000],
      ['planned', 200_000],
    ],
  )
  assert.deepEqual(sent(trial.arrives('next')), [`next ${trial.at('long').worker}`])
  assert.deepEqual(
    only(trial.finishes('short'), 'terminate').map(({ worker }) => worker),
    [places[0]],
  )
})

test('among empty workers the one that was given a job last is kept', () => {
  const trial = shrinking()
  for (const job of ['a', 'b', 'c']) trial.after(1000).arrives(job)
  const last = trial.at('c').worker
  for (const job of ['a', 'b', 'c']) trial.finishes(job)
  trial.now = 100_000
  const actions = trial.tick()
  assert.equal(drained(actions).length, 2)
  assert.ok(!drained(actions).includes(last))
  assert.equal(only(actions, 'terminate').length, 2)
})

test('launches are abandoned before workers drain', () => {
  const trial = new Trial({
    scale: {
      min: 0,
      max: 5,
      policy: 'planned',
      plan: [
        [0, 2],
        [100_000, 1],
      ],
    },
  })
  const [first, second] = only(trial.tick(), 'launch')
  trial.joins('w1', {}, { launch: first!.launch })
  trial.now = 100_000
  const actions = trial.tick()
  assert.deepEqual(
    only(actions, 'abandon').map(({ launch }) => launch),
    [second!.launch],
  )
  assert.deepEqual([drained(actions), trial.view.booting, trial.view.ready], [[], [], 1])
})

test('no worker is drained before its billing period ends', () => {
  const trial = shrinking({ billing: { minimumMs: 130_000 } })
  trial.now = 100_000
  assert.deepEqual(drained(trial.tick()), [])
  trial.now = 130_000
  assert.equal(drained(trial.tick()).length, 2)
})

test('a job that arrives at an empty fleet launches a worker at once', () => {
  for (const policy of ['work-forecast', 'hpa', 'kpa'] as const) {
    const trial = new Trial({ scale: { min: 0, max: 3, policy } })
    assert.deepEqual(only(trial.tick(), 'launch'), [], policy)
    const actions = trial.after(1).arrives('j')
    assert.deepEqual(
      only(actions, 'wait').map(({ job }) => job),
      ['j'],
    )
    const [launch] = only(actions, 'launch')
    assert.ok(launch, policy)
    assert.deepEqual(only(trial.after(1).arrives('k'), 'launch'), [], 'one is on its way')
    assert.deepEqual(sent(trial.joins('w', {}, { launch: launch.launch }))[0], 'j w')
  }
})

test("a lost worker is replaced before the scaler's next interval", () => {
  const trial = new Trial({ scale: { min: 0, max: 3, policy: 'work-forecast' } })
  trial.tick()
  const [launch] = only(trial.after(1).arrives('j'), 'launch')
  trial.joins('w', {}, { launch: launch!.launch })
  assert.equal(only(trial.after(1).tell({ type: 'lost', worker: 'w' }), 'launch').length, 1)
})
