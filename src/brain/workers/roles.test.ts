import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBrain } from '../brain.ts'
import type { Roles, Scaler } from '../scale/scaler.ts'
import { leastConnections } from '../schedule/least-connections.ts'
import { only, sent, Trial } from '../testing/trial.ts'

/** Every second worker is a clerk, which takes no jobs. Only workers that ask politely may leave. */
function trialWithRoles(): { trial: Trial; lost: string[] } {
  const lost: string[] = []
  const roles: Roles = {
    assign({ ready }) {
      const role = ready % 2 === 0 ? 'cook' : 'clerk'
      return { role, takesJobs: role === 'cook', reason: { code: 'in-turn' } }
    },
    settingsOf: (role) => ({ apron: role === 'cook' }),
    mayLeave({ role, why, ms }) {
      if (role === undefined) return undefined
      return { granted: why === 'please', reason: { code: why, ms } }
    },
  }
  const scaler: Scaler = {
    name: 'with-roles',
    everyMs: 0,
    decide: () => ({ kind: 'hold', reason: { code: 'enough' } }),
    lost: (worker, _, role) => lost.push(`${worker} ${role}`),
    roles,
  }
  const trial = new Trial()
  trial.brain = createBrain({ scheduler: leastConnections, discipline: 'sharing', scaler })
  return { trial, lost }
}

test('a worker is assigned a role with its settings when it joins', () => {
  const { trial } = trialWithRoles()
  assert.deepEqual(only([...trial.joins('a'), ...trial.joins('b')], 'assign'), [
    { type: 'assign', worker: 'a', role: 'cook', settings: { apron: true }, reason: { code: 'in-turn' } },
    { type: 'assign', worker: 'b', role: 'clerk', settings: { apron: false }, reason: { code: 'in-turn' } },
  ])
  assert.ok(trial.brain.assignsRoles)
})

test('a role that takes no jobs is given none', () => {
  const { trial } = trialWithRoles()
  for (const id of ['a', 'b']) trial.joins(id, { slots: 2 })
  const actions = ['j1', 'j2', 'j3'].flatMap((job) => trial.arrives(job))
  assert.deepEqual(sent(actions), ['j1 a', 'j2 a'])
})

test('a role is repeated until reports name it', () => {
  const { trial } = trialWithRoles()
  trial.joins('a')
  assert.equal(only(trial.reports('a'), 'assign')[0]?.reason.code, 'role-again')
  const knows = trial.tell({ type: 'reported', worker: 'a', seq: 9, held: [], role: 'cook' })
  assert.deepEqual(only(knows, 'assign'), [])
})

test('a request to leave drains the worker or is denied, and one of an unknown worker is ignored', () => {
  const { trial, lost } = trialWithRoles()
  for (const id of ['a', 'b']) trial.joins(id)
  const asks = (worker: string, why: string, ms = 5.00049) =>
    trial.tell({ type: 'leave-requested', worker, why, ms })
  assert.deepEqual(asks('a', 'now'), [{ type: 'deny', worker: 'a', reason: { code: 'now', ms: 5 } }])
  assert.deepEqual(asks('stranger', 'please'), [])
  const granted = asks('a', 'please', Number.NaN)
  assert.deepEqual(only(granted, 'drain'), [
    { type: 'drain', worker: 'a', reason: { code: 'please', ms: 0 } },
  ])
  assert.equal(only(granted, 'terminate').length, 1)
  assert.deepEqual(lost, [], 'a worker that asked is not lost')
})

test('a worker that drains without having asked is reported as lost', () => {
  const { trial, lost } = trialWithRoles()
  trial.joins('a')
  trial.tell({ type: 'drain', worker: 'a' })
  assert.deepEqual(lost, ['a cook'])
})

test('without roles a request to leave is ignored', () => {
  const trial = new Trial()
  assert.deepEqual(only(trial.joins('a'), 'assign'), [])
  assert.deepEqual(trial.tell({ type: 'leave-requested', worker: 'a', why: 'please', ms: 1 }), [])
})
