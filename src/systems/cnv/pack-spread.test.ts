import assert from 'node:assert/strict'
import { test } from 'node:test'
import { only, sent, Trial } from '../../brain/testing/trial.ts'

const placing = {
  mostWork: 1000,
  workClasses: [
    { name: 'small', mostWork: 100 },
    { name: 'large', mostWork: null },
  ],
}
const trialOf = (workers: number) => {
  const trial = new Trial({ scheduler: 'pack-spread', placing })
  for (let i = 0; i < workers; i++) trial.joins(`w${i}`, { slots: 50 })
  return trial
}

test('the one worker with room is found among hundreds of full ones', () => {
  const trial = trialOf(200)
  for (let i = 0; i < 199; i++) trial.arrives(`full${i}`, { work: 1000 })
  trial.arrives('half', { work: 500 })
  assert.deepEqual(sent(trial.arrives('other', { work: 500 })), ['other w199'])
  assert.equal(only(trial.arrives('more', { work: 1 }), 'wait')[0]!.reason.code, 'no-capacity')
})

test('a job that ends frees its predicted work, however much it did', () => {
  const trial = trialOf(1)
  trial.arrives('a', { work: 600 })
  trial.arrives('b', { work: 400 })
  trial.arrives('c', { work: 500 })
  assert.deepEqual(trial.view.waiting, ['c'])
  assert.deepEqual(sent(trial.finishes('a', {})), ['c w0'])
  assert.equal(trial.view.workers[0]!.figures.loadPercent, 90)
})

test('between the bounds it keeps spreading', () => {
  const trial = trialOf(2)
  for (const [id, work] of [
    ['a', 900.1],
    ['b', 800.2],
    ['c', 0.3],
  ] as const)
    trial.arrives(id, { work })
  trial.finishes('a')
  // A mean of 40.0 % is between the bounds.
  assert.deepEqual(sent(trial.arrives('d', { work: 10 })), ['d w0'])
})

test('status shows how many jobs of each class a worker has', () => {
  const trial = trialOf(1)
  for (const [id, work] of [
    ['a', 10],
    ['b', 100],
    ['c', 101],
  ] as const)
    trial.arrives(id, { work })
  assert.deepEqual(trial.view.workers[0]!.figures, { loadPercent: 21, small: 2, large: 1 })
})
