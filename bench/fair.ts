/** The effect of one client's flood on another client, with and without fair shares. */

import { table } from '../src/cli/terminal/table.ts'
import { stream } from '../src/lib/random.ts'
import { rank } from '../src/simulate/clock.ts'
import { guess, unitsPerSecond } from '../src/simulate/simulate.ts'
import { lognormal, type Sizes } from '../src/simulate/sizes.ts'
import { median, quantile } from '../src/simulate/summary.ts'
import { World } from '../src/simulate/world.ts'
import { liveP99 } from './fair/live.ts'
import type { BenchOptions } from './options.ts'

const fleet = { workers: 2, cores: 2 }
const cores = fleet.workers * fleet.cores
/** Estimates are off by a lognormal factor. */
const sigma = 0.5
const seconds = 300

interface Flow {
  client: string
  sizes: Sizes
  /** As a share of all cores. */
  load: number
  /** The number of jobs at the start. */
  atOnce: number
}

const cases = {
  heavy: {
    what: '30 ms, beside a flood of 7 s',
    modest: { client: 'modest', sizes: lognormal(Math.log(0.03), 1), load: 0.2, atOnce: 0 },
    flood: { client: 'flood', sizes: lognormal(Math.log(7), 1), load: 1.5, atOnce: 1000 },
  },
  short: {
    what: '500 ms, beside a flood of 20 ms',
    modest: { client: 'modest', sizes: lognormal(Math.log(0.5), 1), load: 0.2, atOnce: 0 },
    flood: { client: 'flood', sizes: lognormal(Math.log(0.02), 0.5), load: 1.5, atOnce: 1000 },
  },
} as const

/** The p99 of the modest client's response times, in milliseconds. */
export function modestP99(name: keyof typeof cases, flooded: boolean, fair: boolean, seed: number): number {
  const { modest, flood } = cases[name]
  const responses: number[] = []
  const world = new World({
    brain: {
      scheduler: 'srpt',
      discipline: 'srpt',
      scale: { min: fleet.workers, max: fleet.workers },
      epoch: 1,
      seed,
      limits: { queue: 1e9 },
      fair,
    },
    seed,
    fleet: {
      cores: fleet.cores,
      workPerSecond: unitsPerSecond,
      memoryMb: 1e6,
      slots: fleet.cores + 16,
      bootMs: 0,
    },
    answered(truth, _, now) {
      if (truth.job.client === modest.client) responses.push(now - truth.arrivedAt)
    },
  })
  world.begin()
  const asked = submit(world, modest, seed)
  if (flooded) submit(world, flood, seed)
  // The flood is never served completely, so the run ends with the modest client's last answer.
  while (responses.length < asked && world.clock.step());
  return quantile(
    responses.toSorted((a, b) => a - b),
    0.99,
  )
}

/** Schedules all jobs of a client. Returns their number. */
function submit(world: World, { client, sizes, load, atOnce }: Flow, seed: number): number {
  const random = stream(seed, client)
  const perSecond = (load * cores) / sizes.meanSeconds
  let at = 0
  for (let count = 0; ; count++) {
    if (count >= atOnce) at += (random.exponential() / perSecond) * 1000
    if (at > seconds * 1000) return count
    const size = Math.max(1, Math.round(sizes.draw(random) * unitsPerSecond))
    const work = guess(size, sigma, random)
    const spread = Math.exp(1.645 * sigma)
    const job = {
      id: `${client}${count}`,
      workload: 'sim',
      client,
      work,
      low: work / spread,
      high: work * spread,
      memoryMb: 0,
    }
    world.clock.at(at, rank.arrival, () => world.submit(job, size))
  }
}

export async function fair({ quick }: BenchOptions): Promise<Record<string, unknown>> {
  const seeds = Array.from({ length: quick ? 4 : 16 }, (_, i) => i + 1)
  const rows: string[][] = []
  const ratios: Record<string, number> = {}
  for (const name of Object.keys(cases) as (keyof typeof cases)[]) {
    const alone = seeds.map((seed) => modestP99(name, false, true, seed))
    const unfair = seeds.map((seed) => modestP99(name, true, false, seed))
    const shared = seeds.map((seed) => modestP99(name, true, true, seed))
    const ratio = (values: number[]) => median(values.map((value, i) => value / alone[i]!))
    rows.push([
      cases[name].what,
      `${median(alone).toFixed(0)} ms`,
      `× ${ratio(unfair).toFixed(2)}`,
      `× ${ratio(shared).toFixed(2)}`,
      `× ${Math.max(...shared.map((value, i) => value / alone[i]!)).toFixed(2)}`,
    ])
    ratios[`p99_vs_alone_beside_${name}_flood`] = Math.round(ratio(shared) * 1000) / 1000
  }
  console.log(
    table(['jobs of a modest client', 'p99 alone', 'beside a flood', 'with fair shares', 'worst seed'], rows),
  )
  console.log(
    `\n${fleet.workers} × ${fleet.cores} cores, srpt, ${seconds} s, medians of ${seeds.length} seeds. The modest client needs a fifth of\n` +
      'the cores; the other sends a thousand jobs at the start, and then 1.5 times as many as can be served.\n',
  )
  const jobs = quick ? 100 : 400
  const [alone, beside] = [await liveP99(false, jobs), await liveP99(true, jobs)]
  console.log(
    `On two real workers, ${jobs} jobs of about 30 ms beside 20 concurrent jobs of 2 s, with fair shares: p99 ${beside.toFixed(0)} ms, alone ${alone.toFixed(0)} ms.\n`,
  )
  return { ...ratios, live_p99_vs_alone: Math.round((beside / alone) * 1000) / 1000 }
}
