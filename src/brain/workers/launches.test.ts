import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Action } from '../../model/action.ts'
import { only, Trial } from '../testing/trial.ts'

const launched = (actions: readonly Action[]) => only(actions, 'launch').map(({ launch }) => launch)
const limits = { backoffMs: 1000, backoffMaxMs: 5000, bootMs: 60_000 }

test('the first tick launches the minimum number of workers', () => {
  const trial = new Trial({ scale: { min: 2, max: 4 } })
  const actions = trial.tick()
  assert.deepEqual(launched(actions), ['1-1', '1-2'])
  assert.equal(only(actions, 'launch')[0]!.reason.code, 'below-min')
  assert.deepEqual(trial.view.booting, ['1-1', '1-2'])
  assert.deepEqual(launched(trial.tick()), [])
})

test('a launch that joins is no longer booting', () => {
  const trial = new Trial({ scale: { min: 1, max: 1 } })
  trial.tick()
  assert.deepEqual(launched(trial.joins('a', {}, { launch: '1-1' })), [])
  assert.deepEqual([trial.view.booting, trial.view.ready, trial.view.timers], [[], 1, 0])
})

test('a worker that is lost or drained is replaced', () => {
  for (const type of ['lost', 'drain'] as const) {
    const trial = new Trial({ scale: { min: 1, max: 1 } })
    trial.tick()
    trial.joins('a', {}, { launch: '1-1' })
    assert.deepEqual(launched(trial.tell({ type, worker: 'a' })), ['1-2'], type)
  }
})

test('after a failed launch the next one waits, twice as long after each failure, up to a limit', () => {
  const trial = new Trial({ scale: { min: 1, max: 1 }, limits })
  let [launch] = launched(trial.tick())
  for (const pauseMs of [1000, 2000, 4000, 5000, 5000]) {
    const actions = trial.tell({ type: 'launch-failed', launch: launch! })
    assert.equal(only(actions, 'abandon')[0]!.launch, launch)
    assert.deepEqual(launched(actions), [])
    assert.equal(only(actions, 'wake')[0]!.at, trial.now + pauseMs)
    assert.deepEqual(launched(trial.after(pauseMs - 1).tick()), [])
    ;[launch] = launched(trial.after(1).tick())
    assert.ok(launch, `after ${pauseMs} ms`)
  }
})

test('a launch that joins ends the pause', () => {
  const trial = new Trial({ scale: { min: 2, max: 2 }, limits })
  const [first, second] = launched(trial.tick())
  trial.tell({ type: 'launch-failed', launch: first! })
  const [third] = launched(trial.joins('a', {}, { launch: second! }))
  assert.ok(third)
  trial.tell({ type: 'launch-failed', launch: third })
  assert.deepEqual(launched(trial.after(999).tick()), [])
  assert.equal(launched(trial.after(1).tick()).length, 1)
})

test('a launch that never joins fails after the boot timeout', () => {
  const trial = new Trial({ scale: { min: 1, max: 1 }, limits })
  trial.tick()
  const actions = trial.after(60_000).tick()
  assert.deepEqual(only(actions, 'abandon')[0]!.reason, { code: 'boot-timeout', bootMs: 60_000 })
  assert.deepEqual(launched(trial.after(1000).tick()), ['1-2'])
})

test('once boots are known to be fast, the boot timeout is shorter, and doubles after a failure', () => {
  const trial = new Trial({ scale: { min: 6, max: 6 }, limits })
  const [last, ...launches] = launched(trial.tick()).reverse()
  trial.after(1000)
  for (const launch of launches) trial.joins(`of-${launch}`, {}, { launch })
  trial.tell({ type: 'launch-failed', launch: last! })
  const [slow] = launched(trial.after(1000).tick())
  assert.deepEqual(only(trial.after(9_999).tick(), 'abandon'), [])
  assert.equal(only(trial.after(10_001).tick(), 'abandon')[0]!.launch, slow)
})

test('a boot that began before its launch counts with its whole time', () => {
  const trial = new Trial({ scale: { min: 6, max: 6 }, limits })
  const [last, ...launches] = launched(trial.tick()).reverse()
  for (const launch of launches) trial.joins(`of-${launch}`, {}, { launch, bootMs: 4_000 })
  trial.tell({ type: 'launch-failed', launch: last! })
  // Five times the usual time, doubled for the failure.
  trial.after(1000).tick()
  assert.deepEqual(only(trial.after(39_999).tick(), 'abandon'), [])
  assert.equal(only(trial.after(1).tick(), 'abandon').length, 1)
})

test('a worker that joins after its launch was given up is terminated', () => {
  const trial = new Trial({ scale: { min: 1, max: 1 }, limits })
  trial.tick()
  trial.tell({ type: 'launch-failed', launch: '1-1' })
  const actions = trial.joins('late', {}, { launch: '1-1' })
  assert.equal(only(actions, 'terminate')[0]!.reason.code, 'not-expected')
  assert.equal(trial.view.ready, 0)
})

test('the second worker of a launch that joins twice is terminated', () => {
  const trial = new Trial({ scale: { min: 1, max: 5 } })
  trial.tick()
  trial.joins('a', {}, { launch: '1-1' })
  const actions = trial.joins('a-copy', {}, { launch: '1-1' })
  assert.equal(only(actions, 'terminate')[0]!.worker, 'a-copy')
  assert.equal(trial.view.ready, 1)
})

test('the failure of a launch that has joined or is unknown is ignored', () => {
  const trial = new Trial({ scale: { min: 1, max: 1 } })
  trial.tick()
  trial.joins('a', {}, { launch: '1-1' })
  assert.deepEqual(trial.tell({ type: 'launch-failed', launch: '1-1' }), [])
  assert.deepEqual(trial.tell({ type: 'launch-failed', launch: 'never' }), [])
})

test('a thousand failures in a row keep all times finite', () => {
  const trial = new Trial({ scale: { min: 1, max: 1 }, limits: { ...limits, backoffMs: 0 } })
  let [launch] = launched(trial.tick())
  for (let i = 0; i < 1100; i++) {
    ;[launch] = launched(trial.tell({ type: 'launch-failed', launch: launch! }))
    assert.ok(launch)
  }
  for (const { at } of only(trial.history, 'wake')) assert.ok(Number.isFinite(at))
})

test('above the maximum, the worker that is empty soonest drains, and among equals the youngest', () => {
  const trial = new Trial({ scale: { min: 0, max: 2 } })
  trial.joins('a')
  trial.joins('b')
  trial.arrives('j1')
  const actions = trial.joins('c')
  assert.deepEqual(
    actions.map((action) => [action.type, 'worker' in action && action.worker]),
    [
      ['drain', 'c'],
      ['terminate', 'c'],
    ],
  )
  assert.equal(trial.view.ready, 2)
})

test('scale-in spares a worker that was launched for a queued job', () => {
  const trial = new Trial({
    scheduler: 'class-limits',
    placing: { classes: { intermediate: 10, max: 20, mostMax: 1, graceMs: 8000 } },
    scale: { min: 0, max: 4, policy: 'planned', plan: [[0, 1]] },
    limits,
  })
  trial.tick()
  trial.joins('a', {}, { launch: '1-1' })
  trial.arrives('first', { work: 20 })
  assert.deepEqual(launched(trial.arrives('starter', { work: 20 })), ['1-2'])
  assert.deepEqual(only(trial.after(5000).tick(), 'abandon'), [])
  trial.joins('b', {}, { launch: '1-2' })
  trial.after(3000).tick()
  assert.equal(trial.at('starter').worker, 'b')
  assert.deepEqual(
    only(trial.history, 'drain').map(({ worker }) => worker),
    ['a'],
  )
})
