/** Schedulers of one's own under faults of every kind, with all invariants checked after every event. */

import assert from 'node:assert/strict'
import test from 'node:test'
import type { PolicyError } from '../../lib/errors.ts'
import { chaos } from '../../simulate/chaos.ts'
import { fewestJobs } from '../testing/policies.ts'
import { throwFault } from './guard.ts'
import { ownScheduler } from './own-scheduler.ts'
import type { SchedulerFactory } from './scheduler.ts'

const seeds = Array.from({ length: 20 }, (_, i) => i + 1)

test('an own scheduler loses no job under faults', () => {
  for (const seed of seeds) {
    const { create } = ownScheduler(fewestJobs, throwFault)
    chaos('least-connections', seed, { policies: { scheduler: create } })
  }
})

/** Fails in every method, every third time. */
const unreliable: SchedulerFactory = (parts) => {
  let calls = 0
  const policy = fewestJobs(parts)
  const failing = <T>(work: () => T): T => {
    if (++calls % 3 === 0) throw new Error('unlucky')
    return work()
  }
  return {
    name: 'unreliable',
    place: (job, now) => failing(() => (calls % 5 === 0 ? ({} as never) : policy.place(job, now))),
    rank: () => failing(() => (calls % 5 === 0 ? Number.NaN : 0)),
    takes: (worker) => failing(() => ({ code: 'room', jobs: worker.jobs.length, slots: worker.slots })),
    fits: () => failing(() => true),
    refile: () => failing(() => {}),
    ended: () => failing(() => {}),
    figuresOf: () => failing(() => ({})),
  }
}

test('an own scheduler that fails again and again loses no job', () => {
  const faults: PolicyError[] = []
  for (const seed of seeds) {
    const { create } = ownScheduler(unreliable, (error) => faults.push(error))
    chaos('least-connections', seed, { policies: { scheduler: create } })
  }
  const methods = new Set(faults.map(({ message }) => message.split(': ')[1]))
  assert.deepEqual([...methods].sort(), ['ended', 'figuresOf', 'fits', 'place', 'rank', 'refile', 'takes'])
})
