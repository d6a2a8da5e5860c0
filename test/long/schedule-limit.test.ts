/** The benchmark's limit is correct: in worked examples, against the simulator where both must agree, and as a lower bound. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { crossing } from '../../bench/schedule/headline.ts'
import { type Arrived, limit } from '../../bench/schedule/limit.ts'
import { plan } from '../../bench/schedule/plan.ts'
import { figuresOf } from '../../bench/schedule/run.ts'
import { jobsOf, trafficOf } from '../../bench/schedule/traffic.ts'
import { stream } from '../../src/lib/random.ts'
import { poisson } from '../../src/simulate/arrivals.ts'
import { simulate, unitsPerSecond } from '../../src/simulate/simulate.ts'
import { lognormal, pareto } from '../../src/simulate/sizes.ts'
import { Answers, mean } from '../../src/simulate/summary.ts'

/** End times by job, from [arrival, size] pairs. */
function ends(pairs: [number, number][], cores: number): number[] {
  const found: number[] = []
  const jobs = pairs.map(([atMs, sizeMs]) => ({ atMs, sizeMs }))
  limit(jobs, cores, (number, _, responseMs) => {
    found[number - 1] = jobs[number - 1]!.atMs + responseMs
  })
  return found
}

test('one core: a shorter job preempts, an equal one waits, and the shortest waiting job is next', () => {
  assert.deepEqual(
    ends(
      [
        [0, 10],
        [2, 3],
        [3, 2],
        [20, 5],
        [20, 1],
      ],
      1,
    ),
    [15, 5, 7, 26, 21],
  )
})

test('two cores: a job continues on any free core', () => {
  // The first is paused at 1 with 9 left, resumes at 3 on the core of the third, and is paused again at 4 with 8 left.
  assert.deepEqual(
    ends(
      [
        [0, 10],
        [0, 6],
        [1, 2],
        [4, 1],
      ],
      2,
    ),
    [13, 6, 3, 5],
  )
})

test('the limit equals one worker with all cores and exact estimates', () => {
  for (const [sizes, cores, load] of [
    [lognormal(), 1, 0.8],
    [lognormal(), 4, 0.9],
    [pareto(), 3, 0.95],
  ] as const) {
    const flow = { seed: 3, jobs: 20_000, sizes, arrivals: poisson((load * cores) / sizes.meanSeconds) }
    const scale = { min: 1, max: 1 }
    const limits = { queue: 1e9 }
    const theirs = simulate({
      ...flow,
      brain: { scheduler: 'srpt', discipline: 'srpt', scale, epoch: 1, seed: 3, limits },
      fleet: { cores, workPerSecond: unitsPerSecond, memoryMb: 1, slots: 1e9, bootMs: 0 },
      errorSigma: 0,
    }).summary()
    const answers = new Answers()
    limit(jobsOf(flow), cores, (_, sizeMs, responseMs) => answers.add(sizeMs, responseMs))
    const ours = answers.summary()
    assert.equal(ours.jobs, theirs.jobs)
    for (const figure of ['meanResponseMs', 'p99ResponseMs', 'p99Slowdown', 'largestSlowdown'] as const)
      assert.ok(
        Math.abs(ours[figure] / theirs[figure] - 1) < 1e-3,
        `${figure}: ${ours[figure]}, ${theirs[figure]}`,
      )
  }
})

test('every job ends, none too early, and no core is idle while a job waits', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = stream(seed, 'limit')
    const cores = 1 + random.below(5)
    const jobs: Arrived[] = []
    for (let at = 0; jobs.length < 40; at += random.below(4))
      jobs.push({ atMs: at, sizeMs: 1 + random.below(12) })
    const seen = new Set<number>()
    const over: { from: number; to: number }[] = []
    limit(jobs, cores, (number, sizeMs, responseMs) => {
      seen.add(number)
      const { atMs } = jobs[number - 1]!
      assert.ok(responseMs >= sizeMs)
      over.push({ from: atMs, to: atMs + responseMs })
    })
    assert.equal(seen.size, jobs.length)
    // Times are whole numbers, so min(jobs, cores) cores are busy in each unit of time.
    let worked = 0
    const last = Math.max(...over.map(({ to }) => to))
    for (let at = 0; at < last; at++)
      worked += Math.min(cores, over.filter(({ from, to }) => from <= at && at < to).length)
    assert.equal(
      worked,
      jobs.reduce((sum, { sizeMs }) => sum + sizeMs, 0),
    )
  }
})

test('no contender has a better mean than the limit on the same jobs', () => {
  const short = plan(true).filter(
    ({ fleet, seed, load, sizes }) => fleet === '8×2' && seed === 1 && load === 0.9 && sizes !== 'azure',
  )
  const means = new Map(
    short.map((run) => [
      `${run.sizes} ${run.contender} ${run.sigma}`,
      figuresOf({ ...run, jobs: 6000 }).meanResponseMs,
    ]),
  )
  for (const [name, found] of means) {
    const best = means.get(`${name.split(' ')[0]} limit 0`)!
    assert.ok(found >= best * (1 - 1e-6), `${name}: ${found} ms, the limit is ${best} ms`)
  }
})

test('with the initial jobs, the load is right from the start', () => {
  for (const sizes of ['pareto', 'lognormal'] as const) {
    const busy = Array.from({ length: 30 }, (_, seed) => {
      const jobs = [...jobsOf({ seed, jobs: 6000, ...trafficOf({ sizes, load: 0.8 }, 256) })]
      const untilMs = jobs.at(-1)!.atMs
      let workMs = 0
      for (const { atMs, sizeMs } of jobs) workMs += Math.min(sizeMs, untilMs - atMs)
      return workMs / untilMs / 256
    })
    assert.ok(Math.abs(mean(busy) - 0.8) < 0.03, `${sizes}: ${mean(busy)}`)
  }
})

test('the highest load that keeps a promise is interpolated linearly', () => {
  const points = [
    { load: 0.4, p99: 1.5 },
    { load: 0.6, p99: 2.5 },
    { load: 0.8, p99: 9 },
  ]
  assert.equal(crossing(points, 2), 0.5)
  assert.equal(crossing(points, 1.25), 0.2)
  assert.equal(crossing(points, 10), 0.8)
})
