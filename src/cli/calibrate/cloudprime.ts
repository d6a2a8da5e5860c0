/**
 * CloudPrime's experiments: the ranks that one minute and ten take, the basic blocks between intermediate metrics, how many
 * long requests leave room for short ones, and how long a worker under load takes to answer a ping.
 */

import { primeFrom } from '../demo/primes.ts'
import { type Bench, type Experiment, type Found, median, rounded, times } from './experiment.ts'
import type { Asked, Lab, Measured } from './lab.ts'
import { largestWithin, sameOrder } from './limit.ts'

/** Beside ten requests on one core a short one takes eleven times as long: what the report calls significant. */
const mostSlowdown = 11
const minuteMs = 60_000
/** Between intermediate metrics: 90 to 120 s. */
const metricsMs = 105_000
const shortMs = 3000
const counts = { quick: [2, 5, 10, 20], full: [1, 2, 5, 8, 10, 12, 16, 20, 24, 30] }
const primes = { quick: 6, full: 12 }

/** A semiprime with two factors near `prime`: the number of trial divisions grows with it. */
function semiprime(prime: number): Asked {
  const first = primeFrom(Math.round(prime))
  return { workload: 'factorize', params: { n: String(first * primeFrom(Number(first) + 2)) } }
}

interface Point {
  prime: number
  measured: Measured
}

export const cloudprime: Experiment = {
  steps: (quick) => (quick ? primes.quick + 2 * counts.quick.length : primes.full + 2 * counts.full.length),
  async run(lab, bench) {
    const points = await ranks(lab, bench)
    const largest = points.at(-1)!
    const { work, cpuMs, tally } = largest.measured
    const perMs = work / cpuMs
    const at = (ms: number) => rounded(perMs * ms)
    const [short, intermediate, max] = [shortMs, minuteMs, 10 * minuteMs].map((ms) =>
      semiprime((largest.prime * ms) / bench.shorter / cpuMs),
    ) as [Asked, Asked, Asked]
    const windowMs = (10 * minuteMs) / bench.shorter
    const beside: Record<'mostMax' | 'mostIntermediate', Beside[]> = {
      mostMax: await interference(lab, bench, { short, long: max, windowMs: windowMs / 2 }),
      mostIntermediate: await interference(lab, bench, { short, long: intermediate, windowMs }),
    }
    const slowdowns = (found: Beside[]) =>
      found.map(({ count, slowdown }): [number, number] => [count, slowdown])
    const limits = {
      mostMax: slowdowns(beside.mostMax),
      mostIntermediate: slowdowns(beside.mostIntermediate),
    }
    const how = `${Math.round(cpuMs)} ms of CPU took rank ${Math.round(work)}`
    const limitHow = (found: Beside[]) =>
      `a short request beside them took, compared with alone: ${found.map(({ count, slowdown }) => `${count}: ${slowdown.toFixed(1)}×`).join(', ')}; the limit is ${mostSlowdown}×. A ping took ${found.map(({ count, pingMs }) => `${count}: ${Math.round(pingMs)} ms`).join(', ')}`
    return {
      findings: [
        { constant: 'intermediate', value: at(minuteMs), how: `rank of 1 min of CPU: ${how}` },
        { constant: 'max', value: at(10 * minuteMs), how: `rank of 10 min of CPU: ${how}` },
        {
          constant: 'metricsEvery',
          value: rounded(((tally.blocks ?? 0) / cpuMs) * metricsMs),
          how: `basic blocks of ${metricsMs / 1000} s: ${tally.blocks ?? 0} in ${Math.round(cpuMs)} ms`,
        },
        ...(['mostIntermediate', 'mostMax'] as const).map((constant) => ({
          constant,
          value: largestWithin(limits[constant], mostSlowdown),
          how: limitHow(beside[constant]),
        })),
      ],
      figures: figuresOf(points, limits),
    }
  },
}

/** Semiprimes up to one that takes a minute, scaled. */
async function ranks(lab: Lab, { quick, shorter, step }: Bench): Promise<Point[]> {
  const points: Point[] = []
  // The first requests of a process compile the code.
  for (let i = 0; i < 3; i++) await lab.measure(semiprime(10_000_000))
  const count = quick ? primes.quick : primes.full
  let prime = 1_000_000
  let ms = 0
  for (let i = 0; i < count; i++) {
    step(`rank and time of semiprimes: ${i + 1} of ${count}`)
    const measured = await lab.measure(semiprime(prime))
    points.push({ prime, measured })
    ms = measured.cpuMs
    // Toward the minute in equal factors, from what has been measured.
    const left = count - 1 - i
    if (left > 0) prime *= (minuteMs / shorter / Math.max(1, ms)) ** (1 / left)
  }
  return points
}

/** What short requests and pings took beside long requests, on average. */
interface Beside {
  count: number
  slowdown: number
  pingMs: number
}

interface Interference {
  short: Asked
  long: Asked
  windowMs: number
}

/** Over the window, by the number of long requests. */
async function interference(
  lab: Lab,
  { quick, step }: Bench,
  { short, long, windowMs }: Interference,
): Promise<Beside[]> {
  const found: Beside[] = []
  for (const count of quick ? counts.quick : counts.full) {
    step(`short requests beside ${count} long ones`)
    // Starts the processes that the long requests take: a process that is up would be used again at once.
    for (let round = 0; round < 2; round++) await lab.occupy(times(2 * count, short)).ended
    const alone: number[] = []
    for (let i = 0; i < 5; i++) alone.push((await lab.measure(short)).responseMs)
    const load = lab.occupy(times(count, long))
    const slowed: number[] = []
    const pings: number[] = []
    // It may meet the long requests before all of them run.
    await lab.measure(short)
    const until = performance.now() + windowMs
    while (performance.now() < until) {
      slowed.push((await lab.measure(short)).responseMs)
      pings.push(await lab.pingMs())
    }
    await load.stop()
    // Each request counts for the time that it took: those beside the load are fewer than those after it.
    const time = slowed.reduce((sum, ms) => sum + ms, 0)
    const mean = slowed.reduce((sum, ms) => sum + ms * ms, 0) / time
    const pingMs = pings.reduce((sum, ms) => sum + ms, 0) / pings.length
    found.push({ count, slowdown: mean / median(alone), pingMs })
  }
  return found
}

/** The report: in all tests, the higher the rank, the longer a request took. */
function agreeing(points: readonly Point[]): string {
  const { agree, all } = sameOrder(points.map(({ measured }) => [measured.work, measured.cpuMs]))
  return `${agree} of ${all} pairs in the same order`
}

function figuresOf(points: readonly Point[], limits: Record<string, [number, number][]>): Found['figures'] {
  return [
    {
      ...{
        name: 'cloudprime-rank',
        title: `Rank and CPU time of semiprimes: ${agreeing(points)}`,
        x: 'CPU time (ms)',
        y: 'rank',
      },
      log: true,
      series: [
        { label: 'rank', points: points.map(({ measured }) => [measured.cpuMs, measured.work]) },
        {
          label: 'the number itself',
          points: points.map(({ prime, measured }) => [measured.cpuMs, prime ** 2]),
        },
      ],
    },
    {
      name: 'cloudprime-limits',
      ...{
        title: 'Short requests beside long ones',
        x: 'long requests',
        y: 'response time, compared with alone',
      },
      series: [
        { label: 'MAX', points: limits.mostMax! },
        { label: 'INTERMEDIATE', points: limits.mostIntermediate! },
      ],
    },
  ]
}
