import assert from 'node:assert/strict'
import { test } from 'node:test'
import { usualStalls } from '../brain/limits.ts'
import { stream } from '../lib/random.ts'
import type { Action } from '../model/action.ts'
import { chaos } from './chaos.ts'
import { rank } from './clock.ts'
import { Faults } from './faults.ts'
import { Invariants } from './invariants.ts'
import { unitsPerSecond } from './simulate.ts'
import { StallInvariants } from './stall-invariants.ts'
import { noFaults } from './testing/no-faults.ts'
import { World } from './world.ts'

const fleet = { cores: 2, workPerSecond: unitsPerSecond, memoryMb: 10_000, slots: 4, bootMs: 300 }
const stalls = { ...usualStalls, afterMs: 3000 }

/** Jobs of 1 to 8 seconds on three workers, of which one slows down to this speed for good. Returns the actions. */
function run(seed: number, speed: number, rule: typeof stalls | null): { actions: Action[]; left: number } {
  const limits = { beatMs: 500, missedBeats: 4, freshMs: 5000, bootMs: 10_000, stalls: rule }
  const checks = new Invariants({ bounded: true, limits })
  const actions: Action[] = []
  const world: World = new World({
    brain: { scheduler: 'srpt', discipline: 'srpt', scale: { min: 3, max: 4 }, epoch: 1, seed, limits },
    ...{ seed, fleet, faults: new Faults(noFaults, seed) },
    observer: new StallInvariants(() => world.nodes, {
      arrived: (event, now) => checks.arrived(event, now),
      observe(event, done, now, brain) {
        actions.push(...done)
        checks.observe(event, done, now, brain)
      },
    }),
  })
  world.begin()
  const random = stream(seed, 'jobs')
  for (let i = 0; i < 30; i++) {
    const size = Math.ceil((1 + random.next() * 7) * unitsPerSecond)
    const job = { id: `j${i}`, workload: 'w', work: size, memoryMb: 10 }
    world.clock.at(1000 + random.next() * 20_000, rank.arrival, () => world.submit(job, size))
  }
  world.clock.at(8000, rank.fault, () => [...world.nodes.values()][random.below(3)]!.worker.setSpeed(speed))
  while (world.clock.step(100_000));
  return { actions, left: world.truths.size }
}

const drains = (actions: readonly Action[]) =>
  actions.filter((action) => action.type === 'drain' && action.reason.code === 'stalled').length

for (const speed of [0, 1 / 20]) {
  test(`jobs of a worker that runs at ${speed} of its speed are answered elsewhere, and it is replaced`, () => {
    for (let seed = 1; seed <= 30; seed++) {
      const { actions, left } = run(seed, speed, stalls)
      assert.equal(left, 0, `seed ${seed}`)
      assert.equal(drains(actions), 1, `seed ${seed}`)
      assert.ok(actions.some(({ type }) => type === 'retry'))
    }
  })
}

test('without the rule, jobs of a worker that stands still have no answer', () => {
  for (let seed = 1; seed <= 5; seed++) assert.ok(run(seed, 0, null).left > 0, `seed ${seed}`)
})

test('a fleet without faults is left alone', () => {
  for (let seed = 1; seed <= 10; seed++) {
    const { actions, left } = run(seed, 1, stalls)
    assert.deepEqual([left, drains(actions)], [0, 0])
    assert.ok(actions.every((action) => action.type !== 'cancel' || action.reason.code !== 'stalled'))
  }
})

test('stalls are drawn in runs with faults', () => {
  let stalled = 0
  for (let seed = 1; seed <= 30; seed++) stalled += chaos('srpt', seed).stalled
  assert.ok(stalled > 0)
})
