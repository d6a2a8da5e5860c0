/** The brain announces pauses, resumptions, revisions and retries, with the numbers that decided. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Action } from '../../model/action.ts'
import { only, Trial } from '../testing/trial.ts'

/** Announcements as "pause j1 worker", each with its reason. */
function announced(actions: readonly Action[]): [what: string, reason: unknown][] {
  return actions.flatMap((action) =>
    action.type === 'pause' || action.type === 'resume' || action.type === 'revise' || action.type === 'retry'
      ? [[`${action.type} ${action.job} ${action.worker}`, action.reason] as [string, unknown]]
      : [],
  )
}

const srpt = () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a')
  return trial
}

test('a pause names the job that takes the core, and what both still need', () => {
  const trial = srpt()
  assert.deepEqual(announced(trial.arrives('long', { work: 1000 })), [])
  const actions = trial.after(250).arrives('short', { work: 100 })
  assert.deepEqual(announced(actions), [
    ['pause long a', { code: 'core-taken', by: 'short', needMs: 100, leftMs: 750 }],
  ])
  assert.deepEqual(
    actions.map(({ type }) => type),
    ['pause', 'run'],
  )
})

test('a resumption names the length of the pause and the remaining time', () => {
  const trial = srpt()
  trial.arrives('long', { work: 1000 })
  trial.after(250).arrives('short', { work: 100 })
  assert.deepEqual(announced(trial.after(120).finishes('short')), [
    ['resume long a', { code: 'core-again', pausedMs: 120, leftMs: 750 }],
  ])
  assert.deepEqual(announced(trial.after(750).finishes('long')), [])
})

test('a job that passes its estimate is revised, and paused if another needs less', () => {
  const trial = srpt()
  trial.arrives('long', { work: 1000 })
  trial.after(100).arrives('guess', { work: 600 })
  assert.deepEqual(announced(trial.after(900).progresses('guess', 900)), [
    ['revise guess a', { code: 'outgrew', doneMs: 900, wasMs: 600, nowMs: 1800 }],
  ])
  trial.after(950)
  assert.deepEqual(announced(trial.progresses('guess', 1850)), [
    ['revise guess a', { code: 'outgrew', doneMs: 1850, wasMs: 1800, nowMs: 3700 }],
    ['pause guess a', { code: 'core-taken', by: 'long', needMs: 900, leftMs: 1850 }],
    ['resume long a', { code: 'core-again', pausedMs: 1850, leftMs: 900 }],
  ])
})

test('on several cores each pause names the job that took that core', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a', { cores: 2 })
  for (const job of ['l1', 'l2']) trial.arrives(job, { work: 1000 })
  trial.after(10)
  const actions = [...trial.arrives('s1', { work: 100 }), ...trial.arrives('s2', { work: 200 })]
  const pauses = only(actions, 'pause').map(({ job, reason }) => `${job} ${reason.by}`)
  assert.deepEqual(pauses.sort(), ['l1 s2', 'l2 s1'])
})

test('a job sent to a worker without a free core is announced as paused', () => {
  const trial = new Trial({ scheduler: 'least-connections', discipline: 'fifo' })
  trial.joins('a')
  trial.arrives('j1')
  const actions = trial.arrives('j2')
  assert.deepEqual(
    actions.map(({ type }) => type),
    ['run', 'pause'],
  )
  assert.deepEqual(announced(actions), [['pause j2 a', { code: 'no-core', jobs: 1, cores: 1 }]])
  assert.deepEqual(announced(trial.after(1000).finishes('j1')), [
    ['resume j2 a', { code: 'core-again', pausedMs: 1000, leftMs: 1000 }],
  ])
})

test('a retry names the time and the work of the failed attempt', () => {
  const trial = srpt()
  trial.joins('b')
  trial.arrives('j1', { work: 1000 })
  assert.deepEqual(announced(trial.after(300).fails('j1', 'crash')), [
    ['retry j1 a', { code: 'crash', afterMs: 300, doneMs: 300 }],
  ])
  assert.deepEqual(announced(trial.after(200).tell({ type: 'lost', worker: 'b' })), [
    ['retry j1 b', { code: 'worker-lost', afterMs: 200, doneMs: 200 }],
  ])
  // A new attempt is not a resumption.
  assert.equal(trial.at('j1').attempt, 3)
})

test('jobs that share the cores are never paused', () => {
  const trial = new Trial({ scheduler: 'least-connections' })
  trial.joins('a')
  for (const job of ['j1', 'j2', 'j3']) assert.deepEqual(announced(trial.after(10).arrives(job)), [])
  assert.deepEqual(announced(trial.after(10).finishes('j2')), [])
})
