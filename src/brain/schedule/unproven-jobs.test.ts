/** Jobs whose estimates nothing has confirmed, under `srpt`. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { only, sent, Trial } from '../testing/trial.ts'

test('unproven jobs go to the worker with the fewest jobs and share its cores', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  for (const id of ['a', 'b']) trial.joins(id)
  for (const id of ['j1', 'j2', 'j3', 'j4', 'j5']) trial.arrives(id, { work: 1000, unproven: true })
  assert.deepEqual(sent(trial.history), ['j1 a', 'j2 b', 'j3 a', 'j4 b', 'j5 a'])
  assert.ok(trial.view.workers.every(({ jobs }) => jobs.every(({ running }) => running)))
  // Three share the core of a, two that of b.
  trial.after(600).tick()
  const left = trial.view.workers.map(({ jobs }) => jobs.map(({ remaining }) => remaining))
  assert.deepEqual(left, [
    [800, 800, 800],
    [700, 700],
  ])
})

test('at most four unproven jobs share a core, and more wait in order of arrival without delaying ranked ones', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a')
  for (const id of ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'])
    trial.arrives(id, { work: id === 'n6' ? 1 : 1000, unproven: true })
  assert.deepEqual(sent(trial.history), ['n1 a', 'n2 a', 'n3 a', 'n4 a'])
  assert.deepEqual(sent(trial.arrives('r1', { work: 5000 })), ['r1 a'])
  assert.deepEqual(sent(trial.arrives('r2', { work: 9000 })), [])
  assert.deepEqual(sent(trial.finishes('n2')), ['n5 a'])
  assert.deepEqual(sent(trial.finishes('r1')), ['r2 a'])
  assert.deepEqual(sent(trial.finishes('n1')), ['n6 a'])
})

test('an unproven job that has run for 250 ms is ranked, and the next one gets its share', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a')
  for (const id of ['n1', 'n2', 'n3', 'n4', 'n5'])
    trial.arrives(id, { work: 1000, high: 1e9, unproven: true })
  assert.deepEqual(sent(trial.history), ['n1 a', 'n2 a', 'n3 a', 'n4 a'])
  assert.deepEqual(sent(trial.after(999).progresses('n1', 249)), [])
  assert.deepEqual(sent(trial.after(1).progresses('n1', 250)), ['n5 a'])
  trial.progresses('n2', 250)
  const running = trial.view.workers[0]!.jobs.filter((job) => job.running).map(({ job }) => job)
  assert.deepEqual(running, ['n1', 'n3', 'n4', 'n5'], 'of the ranked ones, one runs')
})

test('a ranked job runs beside unproven ones, and preempts only ranked ones', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a')
  trial.arrives('new', { work: 9000, unproven: true })
  assert.equal(only(trial.arrives('long', { work: 5000 }), 'run')[0]!.reason.code, 'beside-unproven')
  const [run] = only(trial.arrives('short', { work: 1000 }), 'run')
  assert.equal(run!.reason.preempts, 'long')
  const running = trial.view.workers[0]!.jobs.filter((job) => job.running).map(({ job }) => job)
  assert.deepEqual(running, ['new', 'short'])
})

test('a ranked job prefers an idle core to a shared one, and preempting to sharing with many', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a')
  for (const id of ['n1', 'n2', 'n3']) trial.arrives(id, { work: 9000, unproven: true })
  trial.joins('b')
  assert.deepEqual(sent(trial.arrives('long', { work: 9000 })), ['long b'])
  assert.deepEqual(sent(trial.arrives('short', { work: 100 })), ['short b'])
})

test('progress of jobs that share a core is extrapolated at their pace', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a')
  trial.arrives('n1', { work: 1000, unproven: true })
  trial.after(200).arrives('n2', { work: 1000, unproven: true })
  trial.after(200).finishes('n2')
  trial.after(100).tick()
  assert.equal(trial.view.workers[0]!.jobs[0]!.remaining, 600)
})
