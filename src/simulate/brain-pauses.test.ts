/** Pauses of the brain's process, and workers that are bad without being lost, in virtual time. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BrainLimits, usualOutliers } from '../brain/limits.ts'
import { stream } from '../lib/random.ts'
import type { Action } from '../model/action.ts'
import { rank } from './clock.ts'
import type { Truth } from './environment.ts'
import { Invariants } from './invariants.ts'
import type { SimNode } from './sim-node.ts'
import { unitsPerSecond } from './units.ts'
import { World } from './world.ts'

interface Run {
  world: World
  actions: Action[]
  /** Response times of results, in seconds. */
  seconds: number[]
  only<T extends Action['type']>(type: T): Extract<Action, { type: T }>[]
}

/** Workers of one core, and a job of half a second for each of them every second. */
function begin(workers: number, limits: Partial<BrainLimits>, seconds = 0): Run {
  const actions: Action[] = []
  const times: number[] = []
  const checks = new Invariants({ bounded: true, max: workers, limits })
  const world = new World({
    brain: {
      ...{ scheduler: 'srpt', discipline: 'srpt', epoch: 1, seed: 1, limits },
      scale: { min: workers, max: workers },
    },
    seed: 1,
    fleet: { cores: 1, workPerSecond: unitsPerSecond, memoryMb: 1000, slots: 10, bootMs: 0 },
    observer: {
      arrived: (event, now) => checks.arrived(event, now),
      observe(event, more, now, brain) {
        checks.observe(event, more, now, brain)
        actions.push(...more)
      },
    },
    answered({ arrivedAt }: Truth, { outcome }, now) {
      if (outcome === 'result') times.push((now - arrivedAt) / 1000)
    },
  })
  world.begin()
  const random = stream(1, 'jobs')
  let at = 1000
  for (let i = 1; at < seconds * 1000; i++) {
    at += random.exponential() * (1000 / workers)
    const size = Math.round(unitsPerSecond * (0.25 + random.next() / 2))
    const job = { id: `j${i}`, workload: 'w', work: size, memoryMb: 1 }
    world.clock.at(at, rank.arrival, () => world.submit(job, size))
  }
  const only = <T extends Action['type']>(type: T) =>
    actions.filter((action): action is Extract<Action, { type: T }> => action.type === type)
  return { world, actions, seconds: times, only }
}

function runUntil(world: World, ms: number): void {
  while (world.clock.step(ms));
}

function firstNode(world: World): SimNode {
  return world.nodes.values().next().value!
}

const beats = { beatMs: 1000, missedBeats: 3, freshMs: 10_000 }

for (const together of [false, true]) {
  test(`a brain that does not run for a minute loses nobody${together ? ', even if the workers stopped, too' : ''}`, () => {
    const { world, only } = begin(3, beats, 100)
    runUntil(world, 20_500)
    world.process.freeze()
    const nodes = together ? [...world.nodes.values()] : []
    for (const node of nodes) node.freeze()
    runUntil(world, 80_500)
    for (const node of nodes) node.thaw()
    world.process.thaw()
    runUntil(world, 200_000)
    assert.deepEqual(only('terminate'), [])
    assert.equal(world.brain.view().counters.retries, 0)
    assert.equal(world.truths.size, 0)
  })
}

test('a worker that dies while the brain does not run is lost afterwards, and its jobs are retried', () => {
  const { world, only } = begin(3, beats, 60)
  runUntil(world, 20_500)
  world.process.freeze()
  firstNode(world).die()
  runUntil(world, 30_000)
  assert.deepEqual(only('terminate'), [])
  world.process.thaw()
  runUntil(world, 100_000)
  assert.equal(only('terminate').length, 1)
  assert.equal(world.truths.size, 0)
})

const withOutliers = { ...beats, outliers: usualOutliers }

test('a worker that fails every attempt at once gets few jobs', () => {
  const [plain, guarded] = [beats, withOutliers].map((limits) => {
    const run = begin(4, limits, 600)
    runUntil(run.world, 1500)
    firstNode(run.world).broken = true
    runUntil(run.world, 700_000)
    assert.equal(run.world.truths.size, 0, 'every job has its answer')
    return run
  })
  const failures = (run: Run) => run.world.brain.view().counters.retries
  assert.ok(failures(plain!) > 500, `${failures(plain!)} without the rule`)
  assert.ok(failures(guarded!) < 60, `${failures(guarded!)} with it`)
  const bad = new Set(guarded!.only('eject').map(({ worker, reason }) => `${worker} ${reason.code}`))
  assert.deepEqual([...bad], [`${firstNode(guarded!.world).id} failing`])
})

test('a worker that is ten times slower gets few jobs, and serves again when it has recovered', () => {
  const [plain, guarded] = [beats, withOutliers].map((limits) => {
    const run = begin(4, limits, 900)
    runUntil(run.world, 1500)
    firstNode(run.world).worker.setSpeed(0.1)
    runUntil(run.world, 600_000)
    return run
  })
  const late = ({ seconds }: Run) => seconds.filter((each) => each > 2).length
  assert.ok(
    late(guarded!) < late(plain!) / 2,
    `${late(guarded!)} slow answers with the rule, ${late(plain!)} without`,
  )
  const { world, only } = guarded!
  const slow = firstNode(world)
  assert.deepEqual(
    [...new Set(only('eject').map(({ worker, reason }) => `${worker} ${reason.code}`))],
    [`${slow.id} slow`],
  )
  slow.worker.setSpeed(1)
  runUntil(world, 1_000_000)
  assert.equal(
    world.brain.view().workers.some(({ notice }) => notice),
    false,
  )
  const last = only('run').slice(-200)
  assert.ok(last.some(({ worker }) => worker === slow.id))
  assert.equal(world.truths.size, 0)
})
