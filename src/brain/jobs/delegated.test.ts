import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Action } from '../../model/action.ts'
import { brainOf } from '../../systems/brain-spec.ts'
import { Trial } from '../testing/trial.ts'

test('delegated requests count as jobs with results, and leave nothing behind', () => {
  const trial = new Trial()
  trial.joins('a')
  assert.deepEqual(
    trial.tell({ type: 'delegated', jobs: 30, work: 300 }).filter(({ type }) => type !== 'wake'),
    [],
  )
  const { counters, jobs, placed, waiting } = trial.view
  assert.deepEqual([counters.accepted, counters.results, jobs, placed, waiting], [30, 30, 0, 0, []])
  assert.equal(trial.view.leftBehind(), undefined)
})

test('the scaler is told of each of them, with their mean time', () => {
  const arrived: number[] = []
  const trial = new Trial()
  trial.brain = brainOf(trial.spec, {
    scaler: {
      name: 'test',
      everyMs: 1_000,
      decide: () => ({ kind: 'hold', reason: { code: 'test' } }),
      arrived: (seconds) => arrived.push(seconds) < 0,
    },
  })
  trial.joins('a', { workPerSecond: 1_000 })
  trial.tell({ type: 'delegated', jobs: 3, work: 30 })
  assert.deepEqual(arrived, [0.01, 0.01, 0.01])
})

test('a worker that drains waits for requests that fronts have sent there without asking', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.joins('b')
  const ended = (actions: Action[]) =>
    actions.flatMap((each) => (each.type === 'terminate' ? each.worker : []))
  trial.tell({ type: 'held', worker: 'a', held: true })
  assert.deepEqual(ended(trial.tell({ type: 'drain', worker: 'a' })), [])
  assert.deepEqual(ended(trial.tell({ type: 'drain', worker: 'b' })), ['b'])
  assert.deepEqual(ended(trial.tell({ type: 'held', worker: 'a', held: false })), ['a'])
})

test('a worker that is lost is not held', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.tell({ type: 'held', worker: 'a', held: true })
  const actions = trial.tell({ type: 'lost', worker: 'a', certain: true })
  assert.ok(actions.some(({ type }) => type === 'terminate'))
})
