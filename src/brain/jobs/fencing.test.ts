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

test("a superseded attempt's late answer is dropped, and the current one counts", () => {
  const trial = secondAttempt()
  const late = trial.finishes('j1', { attempt: 1, worker: 'a' })
  assert.deepEqual([late.length, late[0]!.type], [1, 'drop'])
  assert.equal(trial.view.counters.superseded, 1)
  assert.deepEqual(answers(trial.finishes('j1')), ['j1 result finished'])
})

test('answers with another epoch, worker or attempt number are dropped', () => {
  for (const token of [{ epoch: 0 }, { epoch: 2 }, { worker: 'a' }, { worker: 'nobody' }, { attempt: 3 }]) {
    const trial = secondAttempt()
    assert.deepEqual(only(trial.finishes('j1', token), 'answer'), [])
    assert.deepEqual(only(trial.fails('j1', 'error', token), 'answer'), [])
    assert.equal(only(trial.fails('j1', 'crash', token), 'drop').length, 1)
    assert.equal(trial.view.counters.superseded, 3)
    assert.deepEqual(answers(trial.finishes('j1')), ['j1 result finished'])
  }
})

test('the answer of an attempt whose job is queued again is dropped', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1')
  trial.tell({ type: 'lost', worker: 'a' })
  assert.equal(only(trial.finishes('j1'), 'drop')[0]!.reason.code, 'superseded')
  assert.deepEqual(trial.view.waiting, ['j1'])
})

test('an attempt that must not be repeated is permitted to start, and its result is the answer', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1', { safeToRepeat: false })
  assert.deepEqual(trial.asks('j1'), [{ type: 'go', ...trial.at('j1') }])
  assert.deepEqual(answers(trial.finishes('j1')), ['j1 result finished'])
})

test('before it is permitted to start, a job that must not be repeated can be retried', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1', { safeToRepeat: false })
  trial.joins('b')
  assert.deepEqual(sent(trial.tell({ type: 'lost', worker: 'a' })), ['j1 b'])
})

test('after it is permitted to start, a failure leaves the outcome unknown', () => {
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

test('after it is permitted to start, a passed deadline leaves the outcome unknown', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1', { safeToRepeat: false, deadlineAt: 50 })
  trial.asks('j1')
  const actions = trial.after(50).tick()
  assert.deepEqual(answers(actions), ['j1 unknown outcome-unknown'])
  assert.equal(only(actions, 'cancel').length, 1)
})

test('a superseded attempt that asks for permission is cancelled', () => {
  const trial = secondAttempt()
  const actions = trial.asks('j1', { attempt: 1, worker: 'a' })
  assert.deepEqual(only(actions, 'go'), [])
  assert.deepEqual(
    only(actions, 'cancel').map(({ worker, attempt }) => [worker, attempt]),
    [['a', 1]],
  )
})

test('permission for a repeatable job does not make it unsafe to repeat', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1')
  trial.joins('b')
  trial.asks('j1')
  assert.deepEqual(sent(trial.fails('j1', 'crash')), ['j1 b'])
})

test('each request for permission is answered, since the first permission may have been lost', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1', { safeToRepeat: false })
  assert.equal(only(trial.asks('j1'), 'go').length, 1)
  assert.equal(only(trial.asks('j1'), 'go').length, 1)
})

test('the result of an attempt that never asked for permission counts', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1', { safeToRepeat: false })
  assert.deepEqual(answers(trial.finishes('j1')), ['j1 result finished'])
})
