import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Action } from '../../model/action.ts'
import { only, Trial } from '../testing/trial.ts'

const launched = (actions: readonly Action[]) => only(actions, 'launch').map(({ launch }) => launch)
const limits = { backoffMs: 1000, bootMs: 60_000 }

/** A brain that takes over these launches of brain 3. */
function takeOver(scale: { min: number; max: number }, launches: Record<string, boolean>) {
  const trial = new Trial({ epoch: 7, scale, limits })
  const actions = trial.tell({
    type: 'adopted',
    launches: Object.entries(launches).map(([launch, joined]) => ({ launch, joined })),
  })
  return { trial, actions: [...actions, ...trial.tick()] }
}

test('workers of an earlier brain are awaited, and no others launched in their place', () => {
  const { trial, actions } = takeOver({ min: 2, max: 4 }, { '3-1': true, '3-4': false })
  assert.deepEqual(launched(actions), [])
  assert.deepEqual(trial.view.booting, ['3-1', '3-4'])
  for (const launch of ['3-1', '3-4']) {
    const joining = trial.joins(`of ${launch}`, {}, { launch })
    assert.deepEqual([launched(joining), only(joining, 'terminate')], [[], []])
  }
  assert.deepEqual([trial.view.ready, trial.view.booting], [2, []])
})

test('names of workers do not repeat those of an earlier brain', () => {
  const { actions } = takeOver({ min: 3, max: 4 }, { '3-5': true, '3-r9': true })
  assert.deepEqual(launched(actions), ['7-6'])
})

test('a worker that had joined has 10 s to join again, one that boots the boot timeout', () => {
  const { trial } = takeOver({ min: 2, max: 2 }, { '3-1': true, '3-2': false })
  assert.deepEqual(only(trial.after(9_999).tick(), 'abandon'), [])
  const actions = trial.after(1).tick()
  const [abandoned] = only(actions, 'abandon')
  assert.deepEqual([abandoned?.launch, abandoned?.reason.code], ['3-1', 'rejoin-timeout'])
  // It does not count as a launch that failed.
  assert.deepEqual(launched(actions), ['7-3'])
  const later = only(trial.after(50_000).tick(), 'abandon').map(({ launch }) => launch)
  assert.ok(later.includes('3-2'))
})

test('a worker of an earlier brain that has ended is replaced at once', () => {
  const { trial } = takeOver({ min: 1, max: 1 }, { '3-1': true })
  assert.deepEqual(launched(trial.tell({ type: 'launch-failed', launch: '3-1' })), ['7-2'])
})

test('nothing is scaled in until all workers of an earlier brain have joined', () => {
  const { trial, actions } = takeOver({ min: 1, max: 1 }, { '3-1': true, '3-2': true })
  assert.deepEqual(only(actions, 'abandon'), [])
  const first = trial.joins('a', {}, { launch: '3-1' })
  assert.deepEqual([only(first, 'abandon'), only(first, 'drain')], [[], []])
  trial.joins('b', {}, { launch: '3-2' })
  trial.tick()
  assert.equal(trial.view.workers.filter(({ state }) => state === 'ready').length, 1)
})

test('lists name workers of an earlier brain without making them strangers', () => {
  const { trial } = takeOver({ min: 1, max: 1 }, { '3-1': false })
  for (let i = 0; i < 20; i++) {
    trial.after(1000)
    const actions = trial.tell({ type: 'listed', launches: ['3-1'], askedAt: trial.now })
    assert.deepEqual(only(actions, 'abandon'), [])
  }
})
