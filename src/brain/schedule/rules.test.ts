import assert from 'node:assert/strict'
import { test } from 'node:test'
import { only, sent, Trial } from '../trial.ts'

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

test('least-connections: the fewest jobs; among equals the one placed on longest ago', () => {
  const trial = new Trial({ scheduler: 'least-connections' })
  for (const id of ['a', 'b', 'c']) trial.joins(id)
  for (let i = 1; i <= 6; i++) trial.arrives(`j${i}`)
  trial.finishes('j2')
  trial.finishes('j5')
  trial.finishes('j1')
  assert.deepEqual(sent([...trial.arrives('x'), ...trial.arrives('y')]), ['x b', 'y a'])
})

test('least-work: the one that would be done soonest, by cores, rate and what is left', () => {
  const trial = new Trial({ scheduler: 'least-work' })
  trial.joins('slow', { workPerSecond: 500, cores: 1, slots: 20 })
  trial.joins('fast', { workPerSecond: 1000, cores: 2, slots: 20 })
  trial.arrives('j1', { work: 1000 })
  trial.arrives('j2', { work: 4000 })
  trial.arrives('j3', { work: 100 })
  // Both have two seconds left, then the slow one a little more.
  assert.deepEqual(sent(trial.history), ['j1 slow', 'j2 fast', 'j3 slow'])
  assert.deepEqual(sent(trial.arrives('j4', { work: 100 })), ['j4 fast'])
  trial.finishes('j2')
  assert.deepEqual(sent([...trial.arrives('j5', { work: 4000 }), ...trial.arrives('j6')]), [
    'j5 fast',
    'j6 fast',
  ])
})

test('two-choices: never the fuller of the two that it drew, and all are drawn', () => {
  const trial = new Trial({ scheduler: 'two-choices' })
  for (let i = 0; i < 8; i++) trial.joins(`w${i}`, { slots: 1000 })
  for (let i = 0; i < 400; i++) trial.arrives(`j${i}`)
  for (const { reason } of only(trial.history, 'run')) assert.ok(reason.jobs! <= reason.other!)
  const counts = trial.view.workers.map((worker) => worker.jobs.length)
  assert.ok(Math.min(...counts) >= 40 && Math.max(...counts) <= 60, counts.join())
})

test('srpt: a free core first, the fastest worker before the others', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('slow', { workPerSecond: 500 })
  trial.joins('fast', { workPerSecond: 2000, cores: 2 })
  for (const job of ['j1', 'j2', 'j3']) trial.arrives(job)
  assert.deepEqual(sent(trial.history), ['j1 fast', 'j2 fast', 'j3 slow'])
})

test('srpt: without a free core a job takes that of the one with the most left, if it is shorter', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  for (const id of ['a', 'b']) trial.joins(id)
  trial.arrives('j1', { work: 5000 })
  trial.arrives('j2', { work: 9000 })
  const [run] = only(trial.arrives('short', { work: 1000 }), 'run')
  assert.equal(run!.worker, 'b')
  assert.deepEqual(run!.reason, { code: 'shorter', needMs: 1000, leftMs: 9000, preempts: 'j2' })
  const running = trial.view.workers.flatMap(({ jobs }) => jobs.filter((job) => job.running))
  assert.deepEqual(running.map((job) => job.job).toSorted(), ['j1', 'short'])
})

test('srpt: what has been done counts', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a')
  trial.arrives('j1', { work: 5000 })
  trial.after(4500)
  assert.equal(only(trial.arrives('j2', { work: 500 }), 'wait').length, 1)
  assert.deepEqual(sent(trial.arrives('j3', { work: 499 })), ['j3 a'])
})

test('srpt: a job that is not shorter waits unbound, and the shortest that waits goes first', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a')
  trial.arrives('j1', { work: 1000 })
  for (const [id, work] of Object.entries({ long: 9000, mid: 5000, short: 2000 })) trial.arrives(id, { work })
  assert.deepEqual(sent(trial.finishes('j1')), ['short a'])
})

test('srpt: a job that may not be preempted keeps its core', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a')
  trial.arrives('j1', { work: 9000, preemptible: false })
  assert.deepEqual(sent(trial.arrives('short', { work: 1 })), [])
  assert.deepEqual(sent(trial.finishes('j1')), ['short a'])
})

test('srpt: a job that turns out longer makes way for one that waits', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a')
  trial.arrives('j1', { work: 1000 })
  trial.arrives('j2', { work: 2000 })
  assert.deepEqual(sent(trial.after(1500).progresses('j1', 3000)), ['j2 a'])
})

test('srpt: a preempted job goes on where it was when the shorter one ends', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a')
  trial.arrives('long', { work: 9000 })
  trial.after(1000).arrives('short', { work: 1000 })
  trial.after(1000).finishes('short')
  assert.deepEqual(trial.view.workers[0]!.jobs, [{ job: 'long', attempt: 1, running: true, remaining: 8000 }])
})
