import assert from 'node:assert/strict'
import test from 'node:test'
import { compare, simulate } from './simulation.ts'
import type { CompareOptions, SimulateOptions } from './simulation-types.ts'
import { fewestJobs, halfTheJobs, meanCost } from './testing/policies.ts'

const small = { jobs: 2000, workers: 3, cores: 2, load: 0.8 } as const

test('a simulation is repeatable and reports what the command reports', async () => {
  const first = await simulate({ ...small, scheduler: 'least-connections' })
  assert.deepEqual(await simulate({ ...small, scheduler: 'least-connections' }), first)
  assert.deepEqual(
    [first.name, first.scheduler, first.discipline, first.jobs, first.refused],
    ['least-connections', 'least-connections', 'sharing', 2000, 0],
  )
  assert.equal(first.launches, 3)
  assert.deepEqual(first.traffic, { jobs: 2000, load: 0.8, notes: [] })
  assert.notEqual((await simulate({ ...small, seed: 2 })).meanResponseMs, first.meanResponseMs)
})

test('an own scheduler decides as the built-in policy with the same rule does', async () => {
  const { policies } = await compare({
    ...{ ...small, seeds: 2, sizes: 'exponential' },
    policies: ['least-connections:fifo', { scheduler: fewestJobs, discipline: 'fifo' }],
  })
  const [built, own] = policies
  assert.equal(own!.name, 'fewest-jobs')
  // Ties are broken a little differently.
  assert.ok(Math.abs(own!.meanSlowdown / built!.meanSlowdown - 1) < 0.05, JSON.stringify(policies))
})

test('a preset brings its scheduler, discipline and scaling', async () => {
  const { policies } = await compare({
    ...small,
    seeds: 1,
    policies: [{ preset: 'nginx' }, { preset: 'knative', name: 'k' }],
  })
  assert.deepEqual(
    policies.map(({ name, scheduler }) => [name, scheduler]),
    [
      ['nginx', 'weighted-round-robin'],
      ['k', 'two-choices'],
    ],
  )
})

test('an own scaler sizes the fleet within its bounds', async () => {
  const fixed = await simulate({ ...small, workers: 8, load: 0.3 })
  const scaled = await simulate({ ...small, workers: 8, load: 0.3, min: 1, scaler: halfTheJobs })
  assert.ok(scaled.money.workerHours < fixed.money.workerHours)
  assert.ok(scaled.launches > 1 && scaled.money.peakWorkers <= 8)
})

test('an own estimator replaces the simulated estimates and learns from ended jobs', async () => {
  const counts = { asked: 0, learned: 0 }
  const { jobs } = await simulate({
    ...small,
    estimator: () => ({
      estimate({ features }) {
        counts.asked++
        return { work: Number(features.seconds) * 1e6 }
      },
      learn: () => void counts.learned++,
    }),
  })
  assert.deepEqual(counts, { asked: jobs, learned: jobs })
  const blind = await simulate({ ...small, load: 0.95, estimator: meanCost })
  const seeing = await simulate({ ...small, load: 0.95, error: 0 })
  assert.ok(blind.meanSlowdown > seeing.meanSlowdown, 'estimates matter')
})

test('wrong options are rejected with their name, value and what is allowed', async () => {
  const refused: [SimulateOptions, RegExp][] = [
    [{ load: 99 }, /^simulate: options: load = 99: must be a number from 0\.001 to 10$/],
    [{ sizes: 'odd' }, /^simulate: sizes = odd: must be one of pareto, .*, or a file$/],
    [{ from: '3' }, /^simulate: from = 3: requires trace$/],
    [{ lod: 1 } as SimulateOptions, /^simulate: options: unknown option lod; did you mean load\?$/],
    [{ scheduler: 'odd' as 'srpt' }, /^simulate: policy = odd: must be one of round-robin, /],
    [{ discipline: 'odd' as 'srpt' }, /^simulate: discipline = odd: must be one of /],
    [{ preset: 'odd' }, /^simulate: preset = odd: must be one of plimsoll, /],
    [{ preset: 'nginx', scheduler: 'srpt' }, /^simulate: preset = nginx: cannot be combined with scheduler$/],
    [{ scale: 'hpa', scaler: halfTheJobs }, /^simulate: scale = hpa: cannot be combined with scaler$/],
  ]
  for (const [options, message] of refused)
    await assert.rejects(simulate(options), { code: 'CONFIG', message })
  const uncomparable: [unknown, RegExp][] = [
    [{}, /^compare: policies = undefined: must be one policy or more/],
    [{ policies: [] }, /^compare: policies = \[\]: must be/],
    [{ policies: ['srpt', 'srpt'] }, /^compare: policies: srpt is given twice; tell them apart by name$/],
    [{ policies: ['srpt'], seeds: 0 }, /^compare: seeds = 0: must be a whole number from 1 to 1000$/],
  ]
  for (const [options, message] of uncomparable)
    await assert.rejects(compare(options as CompareOptions), { code: 'CONFIG', message })
})

test('a policy that fails ends the simulation with its name and what is wrong', async () => {
  const failing: [SimulateOptions, RegExp][] = [
    [{ scheduler: () => ({ name: 'lazy' }) as never }, /^scheduler: place = undefined: must be a function$/],
    [
      { scheduler: (parts) => ({ ...fewestJobs(parts), name: 'srpt' }) },
      /name = srpt: is the name of a built-in/,
    ],
    [
      { scheduler: () => ({ name: 'odd', place: () => ({}) as never }) },
      /^scheduler odd: place: returned no reason$/,
    ],
    [
      {
        scheduler: () => ({
          name: 'odd',
          place: () => ({ worker: { id: 'w9' } as never, reason: { code: 'x' } }),
        }),
      },
      /^scheduler odd: place: returned worker w9, which does not accept the job$/,
    ],
    [
      {
        scheduler: (parts) => ({ ...fewestJobs(parts), rank: () => Number.NaN }),
        discipline: 'fifo',
        slots: 2,
      },
      /^scheduler fewest-jobs: rank: returned NaN; must be a finite number$/,
    ],
    [
      {
        scaler: (bounds) => ({
          ...halfTheJobs(bounds),
          decide: () => ({ kind: 'scale', to: 99, reason: { code: 'x' } }),
        }),
      },
      /^scaler half-the-jobs: decide: to = 99: must be a whole number from 1 to 3$/,
    ],
    [
      { estimator: () => ({ estimate: () => ({ work: -1 }) }) },
      /^estimator: estimate: work = -1: must be a number, 0 or more$/,
    ],
  ]
  for (const [options, message] of failing)
    await assert.rejects(simulate({ ...small, ...options }), { code: 'POLICY', message })
})
