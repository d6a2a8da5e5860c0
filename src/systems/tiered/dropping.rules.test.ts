import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answers, only, Trial } from '../../brain/testing/trial.ts'
import type { Action } from '../../model/action.ts'
import { explain } from '../../story/reasons.ts'

/** The policy checks every 1.5 s; no node pulls yet. */
function shop(): Trial {
  const trial = new Trial({
    scheduler: 'central-queue',
    scale: { min: 1, max: 1, policy: 'queue-length' },
  })
  trial.tick()
  return trial
}

const dropped = (actions: readonly Action[]) =>
  answers(actions.filter((action) => action.type === 'answer' && action.outcome === 'dropped'))

test('TI-8 at each check requests that waited more than 0.8 s (browse) or 1.8 s (purchase) are dropped', () => {
  const trial = shop()
  trial.arrives('p1', { lane: 'purchase' })
  trial.after(699).arrives('b1', { lane: 'browse' })
  trial.after(1).arrives('b2', { lane: 'browse' })
  trial.arrives('p2', { lane: 'purchase' })
  // 1500: b1 has waited 801 ms, b2 800, p1 1500, p2 800.
  assert.deepEqual(dropped(trial.after(800).tick()), ['b1 dropped dropped'])
  assert.deepEqual(trial.view.lanes, { purchase: 2, browse: 1 })
  // Nothing is dropped between checks.
  assert.deepEqual(dropped(trial.after(400).tick()), [])
  const actions = trial.after(1100).tick()
  assert.deepEqual(dropped(actions), ['p1 dropped dropped', 'b2 dropped dropped', 'p2 dropped dropped'])
  assert.equal(
    explain(only(actions, 'answer')[0]!.reason),
    'it waited 3 s in the queue, and purchase requests are dropped after 1.8 s',
  )
})

test('TI-8 dropped requests are counted separately, not as rejected or lost', () => {
  const trial = shop()
  trial.arrives('b', { lane: 'browse' })
  trial.after(1500).tick()
  const { accepted, dropped: late, refused, unknown, cancelled } = trial.view.counters
  assert.deepEqual([accepted, late, refused, unknown, cancelled], [1, 1, 0, 0, 0])
  assert.equal(trial.view.jobs, 0)
})

test('TI-8 a request that a middle had is not dropped when it is queued again', () => {
  const trial = shop()
  trial.joins('m', {}, { launch: '1-1' })
  trial.arrives('held', { lane: 'browse' })
  trial.arrives('late', { lane: 'browse' })
  assert.deepEqual(dropped(trial.after(1500).tick()), ['late dropped dropped'])
  trial.tell({ type: 'lost', worker: 'm' })
  assert.deepEqual(trial.view.waiting, ['held'])
  assert.deepEqual(dropped(trial.after(1500).tick()), [])
  const joined = trial.joins('n', {}, { launch: trial.view.booting[0]! })
  assert.equal(only(joined, 'run')[0]?.job, 'held')
})

test('TI-8 requests of other lanes, or of none, have no timeout', () => {
  const trial = shop()
  trial.arrives('none')
  trial.arrives('odd', { lane: '__proto__' })
  assert.deepEqual(dropped(trial.after(60_000).tick()), [])
  assert.equal(trial.view.jobs, 2)
})
