import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answers, only, sent, Trial } from '../testing/trial.ts'

/** A job on its second attempt, on worker b; its first was on worker a. */
function secondAttempt(): Trial {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1')
  trial.joins('b')
  trial.fails('j1', 'unreachable')
  assert.deepEqual(trial.at('j1'), { epoch: 1, job: 'j1', attempt: 2, worker: 'b' })
  return trial
}

test('the late answer of a superseded attempt is dropped, and the current one counts', () => {
  const trial = secondAttempt()
  const late = trial.finishes('j1', { attempt: 1, worker: 'a' })
  assert.deepEqual([late.length, late[0]!.type], [1, 'drop'])
  assert.equal(trial.view.counters.superseded, 1)
  assert.deepEqual(answers(trial.finishes('j1')), ['j1 result finished'])
})

test('answers of another epoch, another worker or an attempt to come are dropped', () => {
  for (const token of [{ epoch: 0 }, { epoch: 2 }, { worker: 'a' }, { worker: 'nobody' }, { attempt: 3 }]) {
    const trial = secondAttempt()
    assert.deepEqual(only(trial.finishes('j1', token), 'answer'), [])
    assert.deepEqual(only(trial.fails('j1', 'error', token), 'answer'), [])
    assert.equal(only(trial.fails('j1', 'crash', token), 'drop').length, 1)
    assert.equal(trial.view.counters.superseded, 3)
    assert.deepEqual(answers(trial.finishes('j1')), ['j1 result finished'])
  }
})

test('the answer of an attempt whose job waits again is dropped', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1')
  trial.tell({ type: 'lost', worker: 'a' })
  assert.equal(only(trial.finishes('j1'), 'drop')[0]!.reason.code, 'superseded')
  assert.deepEqual(trial.view.waiting, ['j1'])
})

test('an attempt that must not be repeated gets its permission, and its result is the answer', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1', { safeToRepeat: false })
  assert.deepEqual(trial.asks('j1'), [{ type: 'go', ...trial.at('j1') }])
  assert.deepEqual(answers(trial.finishes('j1')), ['j1 result finished'])
})

test('without permission sent, work that must not be repeated is safe to try again', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1', { safeToRepeat: false })
  trial.joins('b')
  assert.deepEqual(sent(trial.tell({ type: 'lost', worker: 'a' })), ['j1 b'])
})

test('with permission sent, a failure means that the outcome is unknown', () => {
  for (const how of ['crash', 'unreachable', 'lost', 'run-lost'] as const) {
    const trial = new Trial()
    trial.joins('a')
    trial.joins('b')
    trial.arrives('j1', { safeToRepeat: false })
    trial.asks('j1')
    trial.after(10_000)
    if (how === 'run-lost') trial.reports('a')
    const actions =
      how === 'lost'
        ? trial.tell({ type: 'lost', worker: 'a' })
        : how === 'run-lost'
          ? trial.reports('a')
          : trial.fails('j1', how)
    assert.deepEqual(answers(actions), ['j1 unknown outcome-unknown'], how)
    assert.deepEqual(sent(actions), [])
    assert.equal(trial.view.counters.unknown, 1)
  }
})

test('with permission sent, a deadline that passes leaves the outcome unknown, not refused', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1', { safeToRepeat: false, deadlineAt: 50 })
  trial.asks('j1')
  const actions = trial.after(50).tick()
  assert.deepEqual(answers(actions), ['j1 unknown outcome-unknown'])
  assert.equal(only(actions, 'cancel').length, 1)
})

test('a superseded attempt that asks for permission is stopped', () => {
  const trial = secondAttempt()
  const actions = trial.asks('j1', { attempt: 1, worker: 'a' })
  assert.deepEqual(only(actions, 'go'), [])
  assert.deepEqual(
    only(actions, 'cancel').map(({ worker, attempt }) => [worker, attempt]),
    [['a', 1]],
  )
})

test('permission that nobody needed does not make a job unsafe to repeat', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1')
  trial.joins('b')
  trial.asks('j1')
  assert.deepEqual(sent(trial.fails('j1', 'crash')), ['j1 b'])
})

test('asking twice is answered twice: the first permission may have been lost', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1', { safeToRepeat: false })
  assert.equal(only(trial.asks('j1'), 'go').length, 1)
  assert.equal(only(trial.asks('j1'), 'go').length, 1)
})

test('a result from an attempt that never asked for permission is still its result', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1', { safeToRepeat: false })
  assert.deepEqual(answers(trial.finishes('j1')), ['j1 result finished'])
})
