import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BrainView } from '../../model/view.ts'
import { followingText, pace, placeOf } from './following.ts'

const quote = { work: 1000, seconds: { expected: 2, low: 1, high: 3 } }

test('the line of a request begins with the elapsed time, and adds the estimate once it is known', () => {
  assert.equal(followingText('julia', 1234, {}), 'julia  1.2 s')
  assert.equal(followingText('julia', 1234, { quote }), 'julia  1.2 s · estimate 2.00 s')
  assert.equal(
    followingText('julia', 1234, { quote, job: { state: 'queued' } }),
    'julia  1.2 s · estimate 2.00 s · queued',
  )
})

test('a job on a worker shows its progress in work and the time left', () => {
  const job = { state: 'running', worker: 'w1', done: 250, remaining: 750 } as const
  assert.equal(
    followingText('julia', 600, { quote, job }),
    'julia  0.6 s · estimate 2.00 s · 25 % of the work · about 1.50 s left · running on w1',
  )
  assert.match(followingText('julia', 600, { quote, job, msPerWork: 10 }), /about 7\.50 s left/)
  assert.equal(
    followingText('julia', 600, { job: { ...job, state: 'paused' } }),
    'julia  0.6 s · 25 % of the work · paused on w1',
  )
})

test('the pace of a job is measured from its first sight on the worker that has it', () => {
  let now = 0
  const paceOf = pace(() => now)
  const at = (worker: string, done: number) => paceOf({ state: 'running', worker, done, remaining: 1 })
  assert.equal(at('a', 100), undefined)
  now = 500
  assert.equal(at('a', 200), 5)
  assert.equal(paceOf({ state: 'queued' }), undefined)
  assert.equal(at('b', 10), undefined)
  now = 600
  assert.equal(at('b', 20), 10)
})

test('finds a job in the state of the cluster', () => {
  const held = { job: 'x', attempt: 1, running: false, done: 5, remaining: 6 }
  const view = { waiting: ['y'], workers: [{ id: 'w1', jobs: [held] }] } as unknown as BrainView
  assert.deepEqual(placeOf(view, 'y'), { state: 'queued' })
  assert.deepEqual(placeOf(view, 'x'), { state: 'paused', worker: 'w1', done: 5, remaining: 6 })
  assert.equal(placeOf(view, 'z'), undefined)
})
