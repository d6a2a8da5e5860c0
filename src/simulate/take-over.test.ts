import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stream } from '../lib/random.ts'
import type { Action } from '../model/action.ts'
import type { Job } from '../model/job.ts'
import type { SchedulerName } from '../systems/schedulers.ts'
import { chaos } from './chaos.ts'
import { rank } from './clock.ts'
import { Invariants } from './invariants.ts'
import { unitsPerSecond } from './simulate.ts'
import { endBrains } from './take-over.ts'
import { World } from './world.ts'

const fleet = { cores: 2, workPerSecond: unitsPerSecond, memoryMb: 10_000, slots: 10, bootMs: 100 }

/** Jobs for ten seconds, in which only brains die. Returns all actions of all brains. */
function run(scheduler: SchedulerName, seed: number): Action[] {
  const limits = {
    beatMs: 500,
    missedBeats: 3,
    freshMs: 5000,
    settleMs: 2000,
    bootMs: 10_000,
    recoverMs: 5000,
  }
  const checks = new Invariants({ bounded: true, limits })
  const actions: Action[] = []
  const world = new World({
    brain: { scheduler, discipline: 'srpt', scale: { min: 2, max: 3 }, epoch: 1, seed, limits },
    ...{ seed, fleet },
    observer: {
      arrived: (event, now) => checks.arrived(event, now),
      observe(event, done, now, brain) {
        actions.push(...done)
        checks.observe(event, done, now, brain)
      },
      replaced: () => checks.replaced(),
      answeredByFront: (job) => checks.answeredByFront(job),
    },
  })
  world.begin()
  const random = stream(seed, 'jobs')
  for (let i = 0; i < 60; i++) {
    const size = Math.ceil(random.exponential() * 0.3 * unitsPerSecond)
    const job: Job = { id: `j${i}`, workload: 'w', work: size, memoryMb: 10 }
    if (random.next() < 0.3) job.safeToRepeat = false
    world.clock.at(500 + random.next() * 9500, rank.arrival, () => world.submit(job, size))
  }
  endBrains(world, seed, 10_000)
  while (world.clock.step(60_000));
  assert.equal(world.truths.size, 0)
  checks.finally(world.brain)
  return actions
}

test('what runs goes on whenever brains die, and nothing runs twice', () => {
  let adopted = 0
  for (let seed = 1; seed <= 40; seed++) {
    const actions = run('srpt', seed)
    const runs = new Map<string, number>()
    for (const action of actions) {
      if (action.type === 'run') runs.set(action.job, (runs.get(action.job) ?? 0) + 1)
      if (action.type === 'adopt') adopted++
      assert.notEqual(action.type, 'cancel', `seed ${seed}`)
      assert.notEqual(action.type, 'terminate', `seed ${seed}`)
    }
    assert.deepEqual([...runs.values()], Array(60).fill(1), `seed ${seed}`)
  }
  assert.ok(adopted > 40, `${adopted} attempts were adopted`)
})

test('all invariants hold if brains die among faults of every kind', () => {
  let adopted = 0
  for (let seed = 1; seed <= 20; seed++)
    for (const policy of ['srpt', 'least-connections', 'prequal'] as const)
      adopted += chaos(policy, seed, { takeOver: true }).adopted
  assert.ok(adopted > 20, `${adopted} attempts were adopted`)
})
