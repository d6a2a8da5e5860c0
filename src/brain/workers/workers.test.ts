import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ContractError } from '../../lib/errors.ts'
import { answers, only, sent, Trial } from '../testing/trial.ts'

const beats = { beatMs: 1000, missedBeats: 3, freshMs: 10_000 }

test('a lost worker is terminated, in case it still exists, and gets no more jobs', () => {
  const trial = new Trial()
  trial.joins('a')
  const actions = trial.tell({ type: 'lost', worker: 'a', message: 'gone' })
  assert.deepEqual(actions, [{ type: 'terminate', worker: 'a', reason: { code: 'lost', message: 'gone' } }])
  assert.deepEqual(sent(trial.arrives('j1')), [])
  assert.deepEqual(trial.tell({ type: 'lost', worker: 'a' }), [])
})

test('a worker that misses its heartbeats is lost', () => {
  const trial = new Trial({ limits: beats })
  trial.joins('a')
  trial.arrives('j1')
  trial.after(1000).reports('a', [trial.held('j1')])
  assert.deepEqual(only(trial.after(2999).tick(), 'terminate'), [])
  const [ended] = only(trial.after(1).tick(), 'terminate')
  assert.deepEqual(ended, { type: 'terminate', worker: 'a', reason: { code: 'silent', silentMs: 3000 } })
  assert.deepEqual(trial.view.waiting, ['j1'])
})

test('a worker that has just joined has longer for its first heartbeat', () => {
  const trial = new Trial({ limits: beats })
  trial.joins('a')
  assert.deepEqual(only(trial.after(9999).tick(), 'terminate'), [])
  assert.equal(only(trial.after(1).tick(), 'terminate').length, 1)
})

test('a worker that reports in time is never lost', () => {
  const trial = new Trial({ limits: beats })
  trial.joins('a')
  for (let i = 0; i < 50; i++) {
    trial.after(1000).reports('a')
    trial.tick()
  }
  assert.equal(trial.view.ready, 1)
})

test('without heartbeats no worker is declared lost', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.after(1e9).tick()
  assert.deepEqual([trial.view.ready, trial.view.timers], [1, 0])
})

test('a worker that joins and is lost again and again leaves no timers behind', () => {
  const trial = new Trial({ limits: beats })
  for (let i = 0; i < 20; i++) {
    trial.joins('a')
    trial.after(10).tell({ type: 'lost', worker: 'a' })
  }
  assert.equal(trial.view.timers, 0)
})

test('a worker that could not be reached gets no jobs until it reports', () => {
  const trial = new Trial({ limits: beats })
  trial.joins('a')
  trial.arrives('j1')
  assert.deepEqual(sent(trial.fails('j1', 'unreachable')), [])
  assert.deepEqual(sent(trial.arrives('j2')), [])
  assert.deepEqual(sent(trial.reports('a')), ['j1 a', 'j2 a'])
})

test('a stale report does not end the suspicion', () => {
  const trial = new Trial({ limits: beats })
  trial.joins('a')
  trial.arrives('j1')
  trial.fails('j1', 'unreachable')
  assert.deepEqual(trial.tell({ type: 'reported', worker: 'a', seq: 1, held: [] }), [])
  assert.equal(trial.view.workers[0]!.suspect, true)
})

test('a draining worker finishes its jobs, gets no more, and is terminated when empty', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1')
  trial.arrives('j2')
  const drain = trial.tell({ type: 'drain', worker: 'a' })
  assert.deepEqual(
    drain.map((action) => action.type),
    ['drain'],
  )
  assert.deepEqual(sent(trial.arrives('j3')), [])
  assert.deepEqual(only(trial.finishes('j1'), 'terminate'), [])
  const actions = trial.finishes('j2')
  assert.deepEqual(answers(actions), ['j2 result finished'])
  assert.equal(only(actions, 'terminate')[0]!.reason.code, 'drained')
  assert.deepEqual([trial.view.ready, trial.view.draining, trial.view.waiting], [0, 0, ['j3']])
})

test('an empty worker that drains is terminated at once', () => {
  const trial = new Trial()
  trial.joins('a')
  assert.deepEqual(
    trial.tell({ type: 'drain', worker: 'a' }).map((action) => action.type),
    ['drain', 'terminate'],
  )
})

test('a draining worker ends when its last job is taken from it', () => {
  for (const how of ['cancelled', 'deadline', 'crash', 'run-lost'] as const) {
    const trial = new Trial()
    trial.joins('a')
    trial.arrives('j1', { deadlineAt: 5000 })
    trial.tell({ type: 'drain', worker: 'a' })
    trial.after(5000)
    if (how === 'run-lost') trial.reports('a')
    const actions =
      how === 'cancelled'
        ? trial.tell({ type: 'cancelled', job: 'j1' })
        : how === 'deadline'
          ? trial.tick()
          : how === 'crash'
            ? trial.fails('j1', 'crash')
            : trial.reports('a')
    assert.equal(only(actions, 'terminate').length, 1, how)
  }
})

test('draining twice, or an unknown worker, does nothing', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1')
  trial.tell({ type: 'drain', worker: 'a' })
  assert.deepEqual(trial.tell({ type: 'drain', worker: 'a' }), [])
  assert.deepEqual(trial.tell({ type: 'drain', worker: 'nobody' }), [])
})

test('the jobs of a draining worker that is lost are retried, and it may join again', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1')
  trial.tell({ type: 'drain', worker: 'a' })
  trial.tell({ type: 'lost', worker: 'a' })
  assert.deepEqual([trial.view.draining, trial.view.waiting], [0, ['j1']])
  assert.deepEqual(sent(trial.joins('a')), ['j1 a'])
  assert.equal(trial.view.ready, 1)
})

test('a draining worker that joins again goes on draining', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1')
  trial.tell({ type: 'drain', worker: 'a' })
  trial.joins('a', {}, { held: [trial.held('j1')] })
  assert.deepEqual(sent(trial.arrives('j2')), [])
  assert.equal(only(trial.finishes('j1'), 'terminate').length, 1)
})

test('impossible facts about a worker throw a ContractError and change nothing', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  const odd = [{ cores: 0 }, { cores: Number.NaN }, { slots: 0 }, { slots: 1.5 }, { workPerSecond: 0 }]
  for (const facts of [...odd, { workPerSecond: Infinity }, { memoryMb: -1 }]) {
    assert.throws(() => trial.joins('a', facts), ContractError)
  }
  assert.deepEqual([trial.view.workers, trial.view.ready], [[], 0])
})

test('the reason of a drain says who asked for it', () => {
  const trial = new Trial()
  for (const id of ['a', 'b', 'c']) trial.joins(id)
  const codes = [
    trial.tell({ type: 'drain', worker: 'a' }),
    trial.tell({ type: 'drain', worker: 'b', by: 'worker' }),
    trial.tell({ type: 'drain', worker: 'c', by: 'restart' }),
  ].map((actions) => only(actions, 'drain')[0]!.reason.code)
  assert.deepEqual(codes, ['operator', 'leaving', 'replaced'])
})
