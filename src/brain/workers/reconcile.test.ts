import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Action } from '../../model/action.ts'
import { only, sent, Trial } from '../testing/trial.ts'

const listMs = 5000
const limits = { listMs, bootMs: 60_000, backoffMs: 100 }

/** A fleet of workers a1, a2, … that have joined, and a function that delivers a provider's list. */
function fleet(size: number, more: object = {}) {
  const trial = new Trial({ scale: { min: size, max: size }, limits: { ...limits, ...more } })
  trial.tick()
  for (let i = 1; i <= size; i++) trial.joins(`a${i}`, {}, { launch: `1-${i}` })
  const lists = (...launches: string[]) =>
    trial.after(1000).tell({ type: 'listed', launches, askedAt: trial.now - 10 })
  return { trial, lists }
}

const abandoned = (actions: readonly Action[]) => only(actions, 'abandon').map(({ launch }) => launch)
const ended = (actions: readonly Action[]) => only(actions, 'terminate').map(({ worker }) => worker)

test('a list with exactly the known launches changes nothing', () => {
  const { trial, lists } = fleet(2)
  const before = JSON.stringify(trial.view.workers)
  for (let i = 0; i < 20; i++) assert.deepEqual(lists('1-2', '1-1'), [])
  assert.equal(JSON.stringify(trial.view.workers), before)
})

test('a worker that lists have missed for longer than `listMs` is lost, and its jobs are retried', () => {
  const { trial, lists } = fleet(2)
  trial.arrives('j1')
  assert.equal(trial.at('j1').worker, 'a1')
  for (let i = 0; i < 5; i++) assert.deepEqual(lists('1-2'), [])
  const actions = lists('1-2')
  assert.deepEqual(only(actions, 'terminate')[0], {
    type: 'terminate',
    worker: 'a1',
    reason: { code: 'not-listed', missingMs: 5000 },
  })
  assert.deepEqual(sent(actions), ['j1 a2'])
  assert.deepEqual(trial.view.booting, ['1-3'])
})

test('a single list that names the worker resets the count', () => {
  const { trial, lists } = fleet(1)
  for (let i = 0; i < 40; i++) assert.deepEqual(i % 5 === 4 ? lists('1-1') : lists(), [])
  assert.equal(trial.view.ready, 1)
})

test('a single list without the worker proves nothing, however old the previous list is', () => {
  const { trial, lists } = fleet(1)
  lists('1-1')
  trial.after(1_000_000)
  assert.deepEqual(ended(lists()), [])
  assert.deepEqual(ended(lists('1-1')), [])
  assert.equal(trial.view.ready, 1)
})

test('a worker that reports is kept, whatever lists say', () => {
  const { trial, lists } = fleet(1, { beatMs: 1000, freshMs: 1000 })
  for (let i = 0; i < 20; i++) {
    trial.reports('a1')
    assert.deepEqual(ended(lists()), [])
  }
  assert.equal(trial.view.ready, 1)
})

test('a worker that was not launched is in no list, and is kept', () => {
  const trial = new Trial({ limits })
  trial.joins('by-hand')
  for (let i = 0; i < 20; i++) trial.after(1000).tell({ type: 'listed', launches: [], askedAt: trial.now })
  assert.equal(trial.view.workers[0]!.id, 'by-hand')
})

test('a launch that lists miss is given up before its boot timeout, and replaced after a pause', () => {
  const trial = new Trial({ scale: { min: 1, max: 1 }, limits })
  trial.tick()
  const lists = (...launches: string[]) =>
    trial.after(1000).tell({ type: 'listed', launches, askedAt: trial.now - 10 })
  for (let i = 0; i < 5; i++) assert.deepEqual(abandoned(lists()), [])
  const actions = lists()
  assert.deepEqual(only(actions, 'abandon')[0]!.reason, { code: 'not-listed', missingMs: 5000 })
  assert.deepEqual(trial.view.booting, [])
  trial.after(100).tick()
  assert.deepEqual(trial.view.booting, ['1-2'])
})

test('a list that was asked for before a launch cannot miss it', () => {
  const trial = new Trial({ scale: { min: 1, max: 1 }, limits: { ...limits, listMs: 0 } })
  trial.after(1000).tick()
  for (const askedAt of [10, 500, 999, 1000]) trial.after(1).tell({ type: 'listed', launches: [], askedAt })
  assert.deepEqual(trial.view.booting, ['1-1'])
})

test('an unknown launch is ended once lists have named it for `listMs`, and again if it stays', () => {
  const { trial, lists } = fleet(1)
  const times: number[] = []
  for (let i = 0; i < 20; i++)
    if (abandoned(lists('1-1', ...(i === 4 ? [] : ['0-7']))).includes('0-7')) times.push(i)
  // The fifth list, without it, resets the count.
  assert.deepEqual(times, [10, 15])
  assert.equal(trial.view.ready, 1)
})

test('a launch that was given up and boots anyway is ended, even if it never joins', () => {
  const { trial, lists } = fleet(1)
  trial.tell({ type: 'lost', worker: 'a1' })
  trial.tell({ type: 'launch-failed', launch: '1-2' })
  for (let i = 0; i < 5; i++) assert.deepEqual(abandoned(lists('1-2')), [])
  assert.deepEqual(abandoned(lists('1-2')), ['1-2'])
})

test('lists that are repeated, late or out of order are ignored', () => {
  const { trial, lists } = fleet(1)
  lists('1-1', '0-7')
  const again = { type: 'listed' as const, launches: ['0-7'], askedAt: trial.now - 10 }
  assert.deepEqual(trial.tell(again), [])
  assert.deepEqual(trial.after(9000).tell({ ...again, askedAt: again.askedAt - 500 }), [])
  assert.deepEqual(abandoned(lists('1-1')), [])
  assert.equal(trial.view.ready, 1)
})

test('the worker of a launch with two machines drains, since they can only be ended together', () => {
  const { trial, lists } = fleet(1)
  trial.arrives('j1')
  for (let i = 0; i < 5; i++) assert.deepEqual(lists('1-1', '1-1'), [])
  const actions = lists('1-1', '1-1')
  assert.deepEqual(only(actions, 'drain')[0]!.reason, { code: 'doubled', machines: 2 })
  assert.deepEqual(ended(actions), [])
  assert.deepEqual(ended(trial.finishes('j1')), ['a1'])
  assert.deepEqual(trial.view.booting, ['1-2'])
})

test('a list without a time is rejected', () => {
  const { trial } = fleet(1)
  for (const askedAt of [Number.NaN, Infinity]) {
    assert.throws(() => trial.tell({ type: 'listed', launches: [], askedAt }), {
      message: `listed: askedAt = ${askedAt}: must be a time`,
    })
  }
})

test('one list can end a missing worker, a stranger and a doubled launch', () => {
  const { lists } = fleet(2)
  for (let i = 0; i < 5; i++) lists('1-2', '1-2', '0-7')
  const actions = lists('1-2', '1-2', '0-7')
  assert.deepEqual([ended(actions)[0], abandoned(actions)], ['a1', ['0-7']])
  assert.deepEqual(
    only(actions, 'drain').map(({ worker }) => worker),
    ['a2'],
  )
})
