import assert from 'node:assert/strict'
import { test } from 'node:test'
import { only, sent, Trial } from '../testing/trial.ts'

const limits = { beatMs: 1000, settleMs: 2000 }

test('an attempt that two reports in a row do not name is lost, after `settleMs`', () => {
  const trial = new Trial({ limits })
  trial.joins('a')
  trial.arrives('j1')
  assert.deepEqual(sent(trial.after(1999).reports('a')), [])
  assert.deepEqual(sent(trial.after(1).reports('a')), ['j1 a'])
  assert.equal(trial.at('j1').attempt, 2)
})

test('a lost message does not exclude the worker', () => {
  const trial = new Trial({ limits })
  trial.joins('a')
  trial.joins('b', { slots: 1 })
  trial.arrives('j1')
  trial.arrives('j2')
  assert.deepEqual(sent(trial.after(5000).reports('a')), [])
  assert.deepEqual(sent(trial.after(1000).reports('a')), ['j1 a'])
})

test('a report that crosses with the answer does not lose it', () => {
  const trial = new Trial({ limits })
  trial.joins('a')
  trial.arrives('j1')
  trial.after(5000).reports('a', [trial.held('j1')])
  assert.deepEqual(sent(trial.after(1000).reports('a')), [])
  assert.equal(only(trial.finishes('j1'), 'answer').length, 1)
})

test('a long answer that has begun to arrive is not lost when its worker has finished', () => {
  const trial = new Trial({ limits })
  trial.joins('a')
  trial.arrives('j1')
  trial.tell({ type: 'answering', epoch: 1, job: 'j1', attempt: 1, worker: 'a' })
  for (let i = 0; i < 10; i++) assert.deepEqual(sent(trial.after(1000).reports('a')), [])
  assert.deepEqual(sent(trial.tell({ type: 'lost', worker: 'a' })), [])
  trial.joins('b')
  // This does not hold for another attempt.
  assert.equal(trial.at('j1').attempt, 2)
  trial.after(5000).reports('b')
  assert.deepEqual(sent(trial.after(1000).reports('b')), ['j1 b'])
})

test('an attempt that reports name is not lost, however long it runs', () => {
  const trial = new Trial({ limits })
  trial.joins('a')
  trial.arrives('j1')
  for (let i = 0; i < 10; i++) assert.deepEqual(sent(trial.after(1000).reports('a', [trial.held('j1')])), [])
})

test('a report updates the work done', () => {
  const trial = new Trial({ scheduler: 'srpt', limits })
  trial.joins('a')
  trial.arrives('j1', { work: 1000 })
  trial.after(100).reports('a', [trial.held('j1', 700)])
  assert.equal(trial.view.workers[0]!.jobs[0]!.remaining, 300)
})

test('attempts that a worker should not hold are cancelled', () => {
  const trial = new Trial({ limits })
  trial.joins('a')
  trial.joins('b')
  trial.arrives('j1')
  const strangers = [
    { epoch: 1, job: 'over', attempt: 1 },
    { epoch: 0, job: 'j1', attempt: 1 },
    { epoch: 1, job: 'j1', attempt: 7 },
  ]
  const actions = trial.reports('a', [trial.held('j1'), ...strangers])
  assert.deepEqual(
    only(actions, 'cancel').map(({ epoch, job, attempt }) => ({ epoch, job, attempt })),
    strangers,
  )
  assert.equal(only(trial.reports('b', [trial.held('j1')]), 'cancel').length, 1)
})

test('an attempt of an older epoch does not count as the current one', () => {
  const trial = new Trial({ epoch: 2, limits })
  trial.joins('a')
  trial.arrives('j1')
  trial.after(2000)
  const stranger = { epoch: 1, job: 'j1', attempt: 1, done: 900 }
  trial.reports('a', [stranger])
  const actions = trial.reports('a', [stranger])
  assert.deepEqual(sent(actions), ['j1 a'])
  assert.equal(trial.at('j1').attempt, 2)
})

test('stale and repeated reports are ignored', () => {
  const trial = new Trial({ limits })
  trial.joins('a')
  trial.arrives('j1')
  trial.after(5000).tell({ type: 'reported', worker: 'a', seq: 9, held: [trial.held('j1')] })
  for (const seq of [8, 9]) {
    assert.deepEqual(trial.tell({ type: 'reported', worker: 'a', seq, held: [] }), [])
  }
})

test('an unknown worker that reports is terminated', () => {
  const trial = new Trial({ limits })
  const actions = trial.reports('zombie')
  assert.deepEqual(actions, [{ type: 'terminate', worker: 'zombie', reason: { code: 'unknown-worker' } }])
})

test('a worker that joins again keeps what it still holds, and the rest is retried at once', () => {
  const trial = new Trial({ limits })
  trial.joins('a')
  trial.arrives('j1')
  trial.arrives('j2')
  const actions = trial.joins('a', {}, { held: [trial.held('j1')] })
  assert.deepEqual(sent(actions), ['j2 a'])
  assert.equal(trial.view.workers.length, 1)
  assert.equal(trial.at('j1').attempt, 1)
})

test('a repeated join changes nothing, even with other facts', () => {
  const trial = new Trial({ limits })
  const worker = { id: 'a', cores: 1, workPerSecond: 1000, memoryMb: 100, slots: 2 }
  trial.tell({ type: 'joined', worker, seq: 1, held: [] })
  trial.arrives('j1')
  const again = { ...worker, slots: 50 }
  assert.deepEqual(trial.tell({ type: 'joined', worker: again, seq: 1, held: [] }), [])
  assert.deepEqual([trial.view.workers.length, trial.view.workers[0]!.slots], [1, 2])
})

test('a worker that joins with old attempts is told to cancel them', () => {
  const trial = new Trial({ epoch: 2 })
  const actions = trial.joins('a', {}, { held: [{ epoch: 1, job: 'j1', attempt: 1 }] })
  assert.equal(only(actions, 'cancel')[0]!.epoch, 1)
})
