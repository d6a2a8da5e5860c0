/** Presets serve recorded requests with their own estimators, which learn during the run. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isEstimating, jobsOf, loadTraffic, ownTraffics, runOn } from './own-traffic.ts'
import { presetRun } from './preset-run.ts'
import { simulateLearning, unitsPerSecond } from './simulate.ts'
import { median, quantile } from './summary.ts'

interface Arrival {
  at: number
  /** In units of the simulator, as the brain was told. */
  estimate: number
  unproven: boolean
  lane?: string | undefined
  /** What it really takes. */
  work: number
  params: Record<string, unknown>
  isRepeat: boolean
}

function trafficOf(name: string, hours: number) {
  return loadTraffic({ ...ownTraffics.find((each) => each.name === name)!, hours })
}

/** All arrivals of a run of a preset on the traffic of a system. */
async function arrivalsOf(name: string, hours: number, preset = name): Promise<Arrival[]> {
  const traffic = trafficOf(name, hours)
  const { workPerSecond, machine } = traffic
  const run = runOn(traffic, preset, 1)
  const arrivals: Arrival[] = []
  const keys = new Set<string>()
  await simulateLearning(presetRun(preset, { ...run, ...machine }), {
    observer: {
      observe(event, _, at) {
        if (event.type !== 'arrived') return
        const { question, work } = run.asked!.last()
        const { work: estimate, lane, unproven = false } = event.job
        const units = Math.max(1, Math.round((work / workPerSecond) * unitsPerSecond))
        const params = question.params as Record<string, unknown>
        const isRepeat = keys.has(question.key)
        arrivals.push({ at, estimate, unproven, lane, work: units, params, isRepeat })
        keys.add(question.key)
      },
    },
  })
  assert.equal(arrivals.length, jobsOf(traffic))
  return arrivals
}

/** Up to rounding. */
function isClose(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1 + 1e-12 * b
}

function errorOf({ estimate, work }: Arrival): number {
  return Math.max(estimate / work, work / estimate)
}

test('cloudprime expects the number itself, or the rank once it has been measured', async () => {
  const { workPerSecond } = trafficOf('cloudprime', 1)
  const arrivals = await arrivalsOf('cloudprime', 1)
  const own = ({ params }: Arrival) => Math.round((Number(params.n) / workPerSecond) * unitsPerSecond)
  const isRank = ({ estimate, work }: Arrival) => isClose(estimate, work)
  for (const arrival of arrivals)
    assert.ok(isRank(arrival) || isClose(arrival.estimate, own(arrival)), JSON.stringify(arrival))
  const known = arrivals.filter(({ isRepeat }) => isRepeat)
  const unknown = arrivals.filter(({ isRepeat }) => !isRepeat)
  // A repeated request may come before the first has ended.
  assert.ok(known.filter(isRank).length > 0.8 * known.length)
  assert.ok(unknown.filter(isRank).length < 0.1 * unknown.length)
})

test('cnv knows repeated requests, and learns to estimate new ones', async () => {
  const arrivals = await arrivalsOf('cnv', 0.5)
  const late = arrivals.slice(arrivals.length / 2)
  assert.ok(median(late.filter(({ isRepeat }) => isRepeat).map(errorOf)) < 1.001)
  const tail = (some: Arrival[]) => {
    const errors = some.filter(({ isRepeat }) => !isRepeat).map(errorOf)
    return quantile(
      errors.sort((a, b) => a - b),
      0.95,
    )
  }
  const [early, now] = [tail(arrivals.slice(0, 80)), tail(late)]
  // The formula of the parameters, which estimates until then, is off by more than the models.
  assert.ok(now < 1.5 && early > 1.5 * now, `${now} and ${early}`)
})

test('as in a live cluster, estimates that nothing has confirmed are unproven', async () => {
  const arrivals = await arrivalsOf('hillclimbing', 1, 'plimsoll')
  const late = arrivals.slice(arrivals.length / 2)
  assert.equal(arrivals[0]!.unproven, true)
  const part = late.filter(({ unproven }) => unproven).length / late.length
  assert.ok(part < 0.2, `${part}`)
})

test('clients come when the first workers have booted', async () => {
  const [first] = await arrivalsOf('cloudprime', 0.1)
  assert.ok(first!.at >= trafficOf('cloudprime', 0.1).machine.bootMs)
})

test('a preset on the traffic of another system learns in the units of that traffic', async () => {
  const arrivals = await arrivalsOf('hillclimbing', 6, 'cnv')
  const known = arrivals.slice(arrivals.length / 2).filter(({ isRepeat }) => isRepeat)
  assert.ok(median(known.map(errorOf)) < 1.001)
})

test('presets without estimates are not asked for any; requests of the shop have their lanes', async () => {
  const needless = ['tiered', 'classic', 'nginx', 'haproxy-leastconn', 'envoy-p2c', 'knative', 'prequal']
  assert.deepEqual(needless.filter(isEstimating), [])
  assert.deepEqual(
    ['plimsoll', 'cloudprime', 'cnv', 'hillclimbing', 'ecowork'].filter(isEstimating).length,
    5,
  )
  const run = runOn(trafficOf('tiered', 0.05), 'tiered', 1)
  assert.equal(run.estimator, undefined)
  const lanes = new Set<string | undefined>()
  await simulateLearning(presetRun('tiered', run), {
    observer: {
      observe: (event) => void (event.type === 'arrived' && lanes.add(event.job.lane)),
    },
  })
  assert.deepEqual([...lanes].sort(), ['browse', 'purchase'])
})

test('the same seed gives the same log, with models that are built in the background', async () => {
  const logOf = async (seed: number) => {
    const traffic = trafficOf('cnv', 0.05)
    const chunks: Uint8Array[] = []
    const run = presetRun('plimsoll', { ...runOn(traffic, 'plimsoll', seed), ...traffic.machine })
    await simulateLearning(run, { log: (chunk) => chunks.push(Uint8Array.from(chunk)) })
    return Buffer.concat(chunks).toString()
  }
  const first = await logOf(1)
  assert.ok(first.length > 10_000)
  assert.equal(await logOf(1), first)
  assert.notEqual(await logOf(2), first)
})
