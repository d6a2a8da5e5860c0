import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Action } from '../model/action.ts'
import { answers, only, Trial } from './testing/trial.ts'

const woken = (actions: readonly Action[]) => only(actions, 'wake').map(({ at }) => at)

test('the brain asks for a wake-up at its earliest timer, and again only when that changes', () => {
  const trial = new Trial()
  assert.deepEqual(woken(trial.arrives('j1', { deadlineAt: 100 })), [100])
  assert.deepEqual(woken(trial.arrives('j2', { deadlineAt: 200 })), [])
  assert.deepEqual(woken(trial.arrives('j3', { deadlineAt: 50 })), [50])
})

test('the wake-up moves when the earliest timer is cleared', () => {
  const trial = new Trial()
  trial.arrives('j1', { deadlineAt: 100 })
  trial.arrives('j2', { deadlineAt: 200 })
  assert.deepEqual(woken(trial.tell({ type: 'cancelled', job: 'j1' })), [200])
})

test('an early tick only asks for the wake-up again', () => {
  const trial = new Trial()
  trial.arrives('j1', { deadlineAt: 100 })
  assert.deepEqual(trial.after(99.9).tick(), [{ type: 'wake', at: 100 }])
  assert.deepEqual(answers(trial.after(0.1).tick()), ['j1 refused deadline'])
})

test('a late tick fires all due timers, in order', () => {
  const trial = new Trial()
  for (const [id, deadlineAt] of Object.entries({ late: 300, last: 900, first: 100 }))
    trial.arrives(id, { deadlineAt })
  const actions = trial.after(500).tick()
  assert.deepEqual(answers(actions), ['first refused deadline', 'late refused deadline'])
  assert.deepEqual(woken(actions), [900])
})

test('without timers the brain asks for no wake-up', () => {
  const trial = new Trial()
  assert.deepEqual(trial.tick(), [])
})
