import assert from 'node:assert/strict'
import { test } from 'node:test'
import { only, sent, Trial } from '../testing/trial.ts'

test('round-robin: each worker in turn, whatever it holds', () => {
  const trial = new Trial({ scheduler: 'round-robin' })
  for (const id of ['a', 'b', 'c']) trial.joins(id)
  for (let i = 1; i <= 5; i++) trial.arrives(`j${i}`)
  assert.deepEqual(sent(trial.history), ['j1 a', 'j2 b', 'j3 c', 'j4 a', 'j5 b'])
  trial.finishes('j3')
  assert.deepEqual(sent(trial.arrives('j6')), ['j6 c'])
  assert.deepEqual(sent(trial.arrives('j7')), ['j7 a'])
})

test('round-robin: a worker that joins is next', () => {
  const trial = new Trial({ scheduler: 'round-robin' })
  for (const id of ['a', 'b']) trial.joins(id)
  trial.arrives('j1')
  trial.joins('c')
  assert.deepEqual(sent([...trial.arrives('j2'), ...trial.arrives('j3')]), ['j2 b', 'j3 c'])
})

test('least-connections: the fewest jobs; among equals the one whose last job came longest ago', () => {
  const trial = new Trial({ scheduler: 'least-connections' })
  for (const id of ['a', 'b', 'c']) trial.joins(id)
  for (let i = 1; i <= 6; i++) trial.arrives(`j${i}`)
  trial.finishes('j2')
  trial.finishes('j5')
  trial.finishes('j1')
  assert.deepEqual(sent([...trial.arrives('x'), ...trial.arrives('y')]), ['x b', 'y a'])
})

test('least-work: the worker that finishes first, by cores, rate and remaining work', () => {
  const trial = new Trial({ scheduler: 'least-work' })
  trial.joins('slow', { workPerSecond: 500, cores: 1, slots: 20 })
  trial.joins('fast', { workPerSecond: 1000, cores: 2, slots: 20 })
  trial.arrives('j1', { work: 1000 })
  trial.arrives('j2', { work: 4000 })
  trial.arrives('j3', { work: 100 })
  // Both have two seconds left, then the slow one slightly more.
  assert.deepEqual(sent(trial.history), ['j1 slow', 'j2 fast', 'j3 slow'])
  assert.deepEqual(sent(trial.arrives('j4', { work: 100 })), ['j4 fast'])
  trial.finishes('j2')
  assert.deepEqual(sent([...trial.arrives('j5', { work: 4000 }), ...trial.arrives('j6')]), [
    'j5 fast',
    'j6 fast',
  ])
})

test('two-choices: never the fuller of the two drawn, and all workers are drawn', () => {
  const trial = new Trial({ scheduler: 'two-choices' })
  for (let i = 0; i < 8; i++) trial.joins(`w${i}`, { slots: 1000 })
  for (let i = 0; i < 400; i++) trial.arrives(`j${i}`)
  for (const { reason } of only(trial.history, 'run')) assert.ok(reason.jobs! <= reason.other!)
  const counts = trial.view.workers.map((worker) => worker.jobs.length)
  assert.ok(Math.min(...counts) >= 40 && Math.max(...counts) <= 60, counts.join())
})
