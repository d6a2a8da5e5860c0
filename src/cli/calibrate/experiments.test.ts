/** The experiments on a made-up worker whose costs are known. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { cloudprime } from './cloudprime.ts'
import { ecowork } from './ecowork.ts'
import type { Experiment } from './experiment.ts'
import { hillclimbing } from './hillclimbing.ts'
import type { Asked, Lab } from './lab.ts'
import { tiered } from './tiered.ts'

const memoryMb = 100

async function findings(t: TestContext, experiment: Experiment, cpuMsOf: (asked: Asked) => number) {
  const { findings } = await foundBy(t, experiment, cpuMsOf)
  return Object.fromEntries(findings.map(({ constant, value }) => [constant, value]))
}

/** Work per millisecond is 1000. `cpuMsOf` says what a request takes; those in `occupy` share one core with others. */
async function foundBy(t: TestContext, experiment: Experiment, cpuMsOf: (asked: Asked) => number) {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  let beside = 0
  const lab: Lab = {
    async measure(asked) {
      const cpuMs = cpuMsOf(asked)
      const responseMs = cpuMs * (1 + beside)
      now += responseMs
      return { work: 1000 * cpuMs, cpuMs, peakMemoryMb: memoryMb, responseMs, tally: { blocks: 50 * cpuMs } }
    },
    async pingMs() {
      now += 1 + beside
      return 1 + beside
    },
    occupy(all) {
      beside = all.length
      const ended = async () => {
        beside = 0
        now += all.reduce((sum, asked) => sum + cpuMsOf(asked), 0)
      }
      return {
        get ended() {
          return ended()
        },
        async stop() {
          beside = 0
        },
      }
    },
  }
  const steps: string[] = []
  const bench = { shorter: 60, quick: true, peakPerSecond: 90, step: (what: string) => void steps.push(what) }
  const found = await experiment.run(lab, bench)
  assert.equal(steps.length, experiment.steps(true))
  assert.ok(found.figures.every(({ series }) => series.every(({ points }) => points.length > 0)))
  return found
}

test('CP-18 class bounds are the ranks of 1 and 10 min, and limits follow the slowdown of short requests', async (t) => {
  const cpuMsOf = ({ params }: Asked) => Math.sqrt(Number(params.n)) / 1e5
  assert.deepEqual(await findings(t, cloudprime, cpuMsOf), {
    ...{ intermediate: 60_000_000, max: 600_000_000, metricsEvery: 5_250_000 },
    // Beside ten a request takes eleven times as long.
    ...{ mostIntermediate: 10, mostMax: 10 },
  })
})

test('CP-13 CP-18 calibration says how long a worker under load takes to answer a ping', async (t) => {
  const cpuMsOf = ({ params }: Asked) => Math.sqrt(Number(params.n)) / 1e5
  const { findings } = await foundBy(t, cloudprime, cpuMsOf)
  const { how } = findings.find(({ constant }) => constant === 'mostMax')!
  assert.match(how, /\. A ping took 2: 3 ms, 5: 6 ms, 10: 11 ms, 20: 21 ms$/)
})

test('TI-9 calibration measures the servers of each hour, and the queue that a server finishes in time', async (t) => {
  const found = await findings(t, tiered, () => 100)
  // Ten requests per second and server: eight within 0.8 s.
  assert.equal(found.perServer, 8)
  const hours = found.hours as number[]
  assert.deepEqual([hours[0], hours[12], hours[19], hours.length], [3, 6, 9, 24])
})

test('HC-13 the largest search is the limit of a worker, and progress is the work of 10 s', async (t) => {
  const cpuMsOf = ({ params }: Asked) => (Number(params.width) / 256) ** 2 * (params.xS === undefined ? 1 : 2)
  assert.deepEqual(await findings(t, hillclimbing, cpuMsOf), {
    ...{ mostWork: 32_000, progressEvery: 10_000_000, unknown: 7000 },
  })
})

test('EW-4 EW-11 calibration draws what each format of images costs, by pixels and by compression factor', async (t) => {
  const { figures } = await foundBy(t, ecowork, () => 20)
  const labels = (name: string) =>
    figures.find((figure) => figure.name === name)!.series.map(({ label }) => label)
  assert.deepEqual(labels('ecowork-pixels'), ['png', 'jpeg', 'bmp'])
  assert.deepEqual(labels('ecowork-quality'), ['png', 'jpeg'])
})

test('EW-11 the limits of a worker are what its memory holds, and the work of 10 s', async (t) => {
  const found = await findings(t, ecowork, ({ body }) => (body ? 5 : 20))
  assert.deepEqual(found, { mostJobs: found.mostJobs, mostWork: 10_000_000 })
  assert.ok(Number(found.mostJobs) >= 1 && Number(found.mostJobs) <= 1024 / memoryMb)
})
