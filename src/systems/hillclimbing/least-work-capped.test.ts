import assert from 'node:assert/strict'
import { test } from 'node:test'
import { only, sent, Trial } from '../../brain/testing/trial.ts'

const placing = { mostWork: 1000, againMs: 100, keepAfterMs: 500 }
const begin = (max: number) => new Trial({ scheduler: 'least-work-capped', placing, scale: { min: 0, max } })

/** One worker with a small job, and a queued job that needs the worker for itself. */
function crowded(): Trial {
  const trial = begin(1)
  trial.joins('a')
  trial.arrives('s0', { work: 400 })
  trial.arrives('large', { work: 900 })
  return trial
}

test('a worker is reserved only for a job that has waited long enough', () => {
  const trial = crowded()
  trial.after(400).tick()
  assert.deepEqual(sent(trial.arrives('s1', { work: 400 })), ['s1 a'])
  trial.after(100).tick()
  assert.deepEqual(sent(trial.arrives('s2', { work: 1 })), [])
  trial.finishes('s0')
  assert.deepEqual(trial.view.waiting, ['large', 's2'])
  assert.deepEqual(sent(trial.finishes('s1')), ['large a', 's2 a'])
})

test('a reservation ends when its job is no longer queued', () => {
  const trial = crowded()
  trial.after(500).tick()
  trial.tell({ type: 'cancelled', job: 'large' })
  assert.deepEqual(sent(trial.arrives('s1', { work: 400 })), ['s1 a'])
})

test('HC-10 if the job fails on its reserved worker, another is reserved', () => {
  const trial = begin(2)
  trial.joins('a')
  trial.joins('b')
  assert.deepEqual(sent(trial.arrives('x', { work: 400 })), ['x a'])
  assert.deepEqual(sent(trial.arrives('y', { work: 500 })), ['y b'])
  trial.arrives('large', { work: 900 })
  trial.after(500).tick()
  assert.deepEqual(sent(trial.finishes('x')), ['large a'])
  trial.fails('large', 'crash')
  assert.deepEqual(sent(trial.arrives('s1', { work: 1 })), ['s1 a'])
  trial.after(500).tick()
  assert.deepEqual(sent(trial.arrives('s2', { work: 1 })), ['s2 a'])
  assert.deepEqual(sent(trial.finishes('y')), ['large b'])
})

test('a queued job that fits goes before one that does not', () => {
  const trial = begin(1)
  trial.joins('a')
  trial.arrives('x', { work: 500 })
  trial.arrives('y', { work: 400 })
  trial.arrives('large', { work: 950 })
  trial.arrives('small', { work: 300 })
  assert.deepEqual(sent(trial.finishes('y')), ['small a'])
})

test('a failed launch is followed by another', () => {
  const trial = begin(2)
  trial.joins('a')
  trial.arrives('x', { work: 900 })
  const [launch] = only(trial.arrives('y', { work: 900 }), 'launch')
  trial.tell({ type: 'launch-failed', launch: launch!.launch })
  assert.equal(only(trial.after(100).tick(), 'launch').length, 0)
  assert.equal(only(trial.after(1000).tick(), 'launch').length, 1)
})

test('at the maximum without any worker a job waits for the next to join', () => {
  const trial = begin(0)
  trial.arrives('x', { work: 900 })
  assert.deepEqual(sent(trial.after(1000).joins('a')), ['x a'])
})
