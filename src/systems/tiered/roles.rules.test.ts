import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answers, only, sent, Trial } from '../../brain/testing/trial.ts'
import type { Action } from '../../model/action.ts'
import { explain } from '../../story/reasons.ts'
import type { TierSpec } from './tiers.ts'

const launches = (actions: readonly Action[]) => only(actions, 'launch').map(({ launch }) => launch)

/** A cluster that starts with two fronts, the coordinator among them, and four middles; m1 to m4, and f. */
function cluster(tiers: Partial<TierSpec> = {}, servers = 6): Trial {
  const hours = Array.from({ length: 24 }, () => servers)
  const trial = new Trial({
    scheduler: 'central-queue',
    scale: { min: 1, max: 20, policy: 'queue-length', tiers: { hours, ...tiers } },
  })
  const names = ['m1', 'm2', 'm3', 'm4', 'f']
  for (const [i, launch] of launches(trial.tick()).entries()) trial.joins(names[i] ?? `n${i}`, {}, { launch })
  return trial
}

const ends = (trial: Trial, worker: string) =>
  trial.tell({ type: 'leave-requested', worker, why: 'idle', ms: 2001 })

test('TI-2 nodes are launched without a role and get one when they join', () => {
  const trial = cluster()
  const roles = only(trial.history, 'assign')
  assert.deepEqual(
    roles.map(({ worker, role }) => `${worker} ${role}`),
    ['m1 middle', 'm2 middle', 'm3 middle', 'm4 middle', 'f front'],
  )
  assert.deepEqual(roles.at(-1)!.settings, { idleMs: 1000, gapMs: 500, gaps: 2 })
  assert.deepEqual(
    trial.view.workers.map(({ role }) => role),
    ['middle', 'middle', 'middle', 'middle', 'front'],
  )
})

test('TI-2 a front gets no jobs, whatever is queued', () => {
  const trial = cluster()
  for (let i = 1; i <= 6; i++) trial.arrives(`j${i}`)
  assert.deepEqual(sent(trial.history), ['j1 m1', 'j2 m2', 'j3 m3', 'j4 m4'])
  assert.deepEqual(trial.view.waiting, ['j5', 'j6'])
})

test('TI-2 a job that failed on every middle is retried there, not on a front', () => {
  const trial = cluster()
  trial.arrives('j')
  for (let i = 1; i <= 4; i++) trial.fails('j', 'killed')
  assert.deepEqual(sent(trial.history), ['j m1', 'j m2', 'j m3', 'j m4', 'j m1'])
})

test('TI-2 a node that was disconnected, or does not report its role, is told it again', () => {
  const trial = cluster()
  const again = (actions: readonly Action[]) =>
    only(actions, 'assign').map(({ worker, role }) => [worker, role])
  assert.deepEqual(again(trial.joins('f')), [['f', 'front']])
  assert.deepEqual(again(trial.reports('m2')), [['m2', 'middle']])
  const knows = trial.tell({ type: 'reported', worker: 'm1', seq: 9, held: [], role: 'middle' })
  assert.deepEqual(again(knows), [])
})

test('TI-7 a node that asks to leave drains, and ends when it is empty', () => {
  const trial = cluster()
  trial.arrives('j')
  const asked = ends(trial, 'm1')
  assert.equal(explain(only(asked, 'drain')[0]!.reason), 'it asked to leave: it was idle for 2 s')
  assert.deepEqual(only(asked, 'terminate'), [])
  const finished = trial.finishes('j')
  assert.deepEqual(answers(finished), ['j result finished'])
  assert.deepEqual(
    only(finished, 'terminate').map(({ worker }) => worker),
    ['m1'],
  )
  assert.deepEqual(ends(trial, 'm1'), [], 'it is gone')
})

test('TI-7 a front ends when all requests that it accepted have been answered', () => {
  const trial = cluster()
  trial.arrives('a', { front: 'f' })
  trial.arrives('b', { front: 'f' })
  assert.deepEqual(trial.view.workers.at(-1)!.figures, { role: 'front', open: 2 })
  assert.equal(only(ends(trial, 'f'), 'drain').length, 1)
  trial.finishes('a')
  assert.equal(trial.view.draining, 1)
  const last = trial.finishes('b')
  assert.equal(only(last, 'terminate')[0]?.worker, 'f')
})

test('TI-7 it is denied if too few would remain', () => {
  const trial = cluster({ minMiddle: 4 })
  const names = trial.view.workers.filter(({ role }) => role === 'middle').map(({ id }) => id)
  assert.equal(names.length, 8)
  for (const node of names.slice(0, 4)) assert.equal(only(ends(trial.after(1000), node), 'drain').length, 1)
  const [denied] = only(ends(trial.after(1000), names[4]!), 'deny')
  assert.deepEqual(denied!.reason, { code: 'too-few', role: 'middle', left: 3, least: 4 })
})

test('TI-7 each tier keeps its minimum', () => {
  const trial = cluster({ endEveryMs: 1 })
  const asked = ['f', 'm1', 'm2', 'm3', 'm4'].map((node) => {
    const [denied] = only(ends(trial.after(5), node), 'deny')
    return denied ? explain(denied.reason) : 'allowed'
  })
  assert.deepEqual(asked, [
    'allowed',
    'allowed',
    'allowed',
    'allowed',
    '0 middles would remain, and the minimum is 1',
  ])
  assert.equal(trial.view.ready, 1)
})

test('TI-7 it is denied if another left less than a second ago', () => {
  const trial = cluster()
  assert.equal(only(ends(trial, 'm1'), 'drain').length, 1)
  const [denied] = only(ends(trial.after(999), 'm2'), 'deny')
  assert.equal(explain(denied!.reason), 'another node left 999 ms ago, and only one per 1 s may')
  assert.equal(only(ends(trial.after(1), 'm2'), 'drain').length, 1)
  assert.deepEqual(
    [trial.view.scaling['ends allowed'], trial.view.scaling['ends refused']],
    [2, 1],
    'both are counted',
  )
})

test('a node that an operator drains is replaced by one of its role, one that asked is not', () => {
  const trial = cluster()
  ends(trial, 'm1')
  assert.deepEqual(trial.view.booting, [])
  const drained = trial.tell({ type: 'drain', worker: 'f' })
  const [launch] = launches(drained)
  const joined = trial.joins('g', {}, { launch: launch! })
  assert.equal(only(joined, 'assign')[0]?.role, 'front')
})

test('a draining node that is lost is not replaced', () => {
  const trial = cluster()
  trial.arrives('j')
  ends(trial, 'm1')
  assert.deepEqual(launches(trial.tell({ type: 'lost', worker: 'm1' })), [])
  assert.equal(launches(trial.tell({ type: 'lost', worker: 'm2' })).length, 1)
})

test('TI-7 the coordinator itself never leaves', () => {
  const trial = cluster()
  const [denied] = only(ends(trial, 'coordinator'), 'deny')
  assert.equal(explain(denied!.reason), 'the coordinator never leaves')
})

test('without tiers no worker has a role, and requests to leave are ignored', () => {
  const trial = new Trial({ scheduler: 'central-queue' })
  assert.deepEqual(only(trial.joins('a'), 'assign'), [])
  assert.equal(trial.view.workers[0]!.role, undefined)
  assert.deepEqual(ends(trial, 'a'), [])
})

test('TI-3 the coordinator holds both queues, whichever front accepted a request', () => {
  const trial = cluster()
  for (let i = 1; i <= 4; i++) trial.arrives(`first${i}`, { lane: 'browse' })
  trial.arrives('a', { lane: 'purchase', front: 'f' })
  trial.arrives('b', { lane: 'browse', front: 'f' })
  trial.arrives('c', { lane: 'browse' })
  assert.deepEqual(trial.view.lanes, { purchase: 1, browse: 2 })
  assert.deepEqual(sent(trial.finishes('first1')), ['a m1'])
})
