import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answers, only, sent, Trial } from '../testing/trial.ts'

test('a failed job is retried on another worker', () => {
  for (const kind of ['crash', 'unreachable', 'refused'] as const) {
    const trial = new Trial({ scheduler: 'round-robin' })
    for (const id of ['a', 'b', 'c']) trial.joins(id)
    trial.arrives('j1')
    assert.deepEqual(sent(trial.fails('j1', kind)), ['j1 b'], kind)
    assert.equal(trial.at('j1').attempt, 2)
    assert.equal(trial.view.counters.retries, 1)
  }
})

test('a worker that failed a job does not get it again while another is ready, even a full one', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1')
  trial.joins('b', { slots: 1 })
  trial.arrives('j2')
  const actions = trial.fails('j1', 'crash')
  assert.deepEqual(sent(actions), [])
  assert.equal(only(actions, 'wait')[0]!.job, 'j1')
  assert.deepEqual(sent(trial.finishes('j2')), ['j1 b'])
})

test('a worker that failed a job gets it again if no other is ready', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1')
  assert.deepEqual(sent(trial.fails('j1', 'crash')), ['j1 a'])
})

test('when the other worker is lost or drained, the one that failed the job gets it again', () => {
  for (const type of ['lost', 'drain'] as const) {
    const trial = new Trial()
    trial.joins('a')
    trial.arrives('j1')
    trial.joins('b', { slots: 1 })
    trial.arrives('j2')
    trial.fails('j1', 'crash')
    assert.deepEqual(sent(trial.tell({ type, worker: 'b' })).includes('j1 a'), true, type)
  }
})

test('a retried job keeps its place in the queue', () => {
  const trial = new Trial()
  trial.joins('a', { slots: 1 })
  trial.joins('b', { slots: 1 })
  for (const job of ['j1', 'j2', 'j3']) trial.arrives(job)
  trial.fails('j1', 'crash')
  assert.deepEqual(sent(trial.finishes('j2')), ['j1 b'])
})

test('a job that crashes slot after slot is refused as poison', () => {
  const trial = new Trial({ limits: { crashes: 3 } })
  trial.joins('a')
  trial.arrives('j1')
  trial.fails('j1', 'crash')
  trial.fails('j1', 'crash')
  assert.deepEqual(answers(trial.fails('j1', 'crash')), ['j1 refused poison'])
  assert.equal(trial.view.jobs, 0)
})

test('a lost worker counts against the job that ran there, not against one that was paused', () => {
  const trial = new Trial({ scheduler: 'srpt', limits: { losses: 1 } })
  trial.joins('a')
  trial.arrives('long', { work: 9000 })
  trial.arrives('short', { work: 1000 })
  assert.deepEqual(answers(trial.tell({ type: 'lost', worker: 'a' })), ['short refused poison'])
  assert.deepEqual(trial.view.waiting, ['long'])
})

test('the number of attempts is limited, however they end', () => {
  const trial = new Trial({ limits: { attempts: 3 } })
  trial.joins('a')
  trial.arrives('j1')
  trial.fails('j1', 'refused')
  trial.fails('j1', 'refused')
  assert.deepEqual(answers(trial.fails('j1', 'refused')), ['j1 refused attempts'])
})

test('the jobs of a lost worker are retried elsewhere, as new attempts', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1')
  trial.arrives('j2')
  trial.joins('b')
  const actions = trial.tell({ type: 'lost', worker: 'a' })
  assert.deepEqual(sent(actions), ['j1 b', 'j2 b'])
  assert.equal(trial.at('j1').attempt, 2)
})

test('a new attempt has done no work', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a')
  trial.arrives('j1', { work: 1000 })
  trial.progresses('j1', 1800)
  trial.after(10).fails('j1', 'crash')
  assert.equal(trial.view.workers[0]!.jobs[0]!.remaining, 1000)
})

test('a job whose connection breaks with worker after worker is refused as poison', () => {
  const trial = new Trial({ limits: { losses: 3 } })
  for (const id of ['a', 'b', 'c', 'd', 'e']) trial.joins(id)
  trial.arrives('j1')
  for (let i = 0; i < 3; i++) {
    const { worker } = trial.at('j1')
    // The front sees the connection break before the worker is declared lost.
    trial.fails('j1', 'unreachable')
    trial.tell({ type: 'lost', worker })
  }
  assert.deepEqual(answers(trial.fails('j1', 'unreachable')), ['j1 refused poison'])
})

test('a connection that breaks while the worker lives does not count against the job', () => {
  const trial = new Trial({ limits: { losses: 1 } })
  trial.joins('a')
  trial.joins('b')
  trial.arrives('j1')
  const { worker } = trial.at('j1')
  trial.fails('j1', 'unreachable')
  trial.reports(worker)
  trial.tell({ type: 'lost', worker })
  assert.deepEqual(answers(trial.finishes('j1')), ['j1 result finished'])
})

test('a slot that was killed from outside counts less than a crash', () => {
  const trial = new Trial({ limits: { crashes: 1, losses: 3 } })
  trial.joins('a')
  trial.arrives('j1')
  trial.fails('j1', 'killed')
  trial.fails('j1', 'killed')
  assert.deepEqual(answers(trial.fails('j1', 'killed')), ['j1 refused poison'])
})
