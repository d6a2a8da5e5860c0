import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brainOf } from '../systems/brain-spec.ts'
import { type SchedulerName, schedulers } from '../systems/schedulers.ts'
import { only, Trial } from './testing/trial.ts'

const policies = Object.keys(schedulers) as SchedulerName[]

test('workers that become empty together end in the order in which they were told to drain', () => {
  const trial = new Trial()
  for (const id of ['a', 'b', 'c']) trial.joins(id)
  for (const job of ['j1', 'j2', 'j3']) trial.arrives(job, { deadlineAt: 100 })
  for (const worker of ['c', 'a', 'b']) trial.tell({ type: 'drain', worker })
  const ended = only(trial.after(100).tick(), 'terminate').map(({ worker }) => worker)
  assert.deepEqual(ended, ['c', 'a', 'b'])
})

test('an unknown scheduler is rejected with the list of names', () => {
  const { spec } = new Trial()
  const odd = { ...spec, scheduler: 'toString' as SchedulerName }
  assert.throws(() => brainOf(odd), {
    code: 'CONFIG',
    message: `scheduler = toString: must be one of ${policies.join(', ')}`,
  })
})
