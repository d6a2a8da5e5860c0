import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sent, Trial } from '../../brain/testing/trial.ts'

const queues = () => new Trial({ scheduler: 'central-queue' })

test('TI-2 a free worker pulls the oldest of both heads', () => {
  const trial = queues()
  trial.arrives('b1', { lane: 'browse' })
  trial.after(1).arrives('p1', { lane: 'purchase', work: 9e6 })
  trial.after(1).arrives('p2', { lane: 'purchase' })
  trial.after(1).arrives('b2', { lane: 'browse', work: 1 })
  assert.deepEqual(sent(trial.joins('m')), ['b1 m'])
  assert.deepEqual(sent(trial.finishes('b1')), ['p1 m'])
  assert.deepEqual(sent(trial.finishes('p1')), ['p2 m'])
  assert.deepEqual(sent(trial.finishes('p2')), ['b2 m'])
})

test('a worker pulls one request for each core, however many slots it has', () => {
  const trial = queues()
  trial.joins('one')
  trial.joins('two', { cores: 2 })
  for (let i = 1; i <= 5; i++) trial.arrives(`j${i}`)
  assert.deepEqual(sent(trial.history), ['j1 one', 'j2 two', 'j3 two'])
  assert.deepEqual(trial.view.waiting, ['j4', 'j5'])
})

test('the free worker whose last request came longest ago is served first', () => {
  const trial = queues()
  for (const id of ['a', 'b', 'c']) trial.joins(id)
  for (const id of ['j1', 'j2', 'j3', 'j4']) {
    trial.arrives(id)
    trial.finishes(id)
  }
  assert.deepEqual(sent(trial.history), ['j1 a', 'j2 b', 'j3 c', 'j4 a'])
})

test('a request of a lost worker goes before later requests', () => {
  const trial = queues()
  trial.joins('a')
  trial.arrives('old')
  trial.arrives('new')
  trial.tell({ type: 'lost', worker: 'a' })
  assert.deepEqual(sent(trial.joins('b')), ['old b'])
})
