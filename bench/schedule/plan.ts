/** What is run: every contender on the same jobs, for each fleet, distribution of sizes, load and seed. */

import type { SchedulerName } from '../../src/brain/schedule/index.ts'
import type { DisciplineName } from '../../src/worker/discipline.ts'
import { azureTrace } from './trace.ts'

export const fleets = {
  '2×2': { workers: 2, cores: 2 },
  '8×2': { workers: 8, cores: 2 },
  '64×4': { workers: 64, cores: 4 },
} as const
export type FleetName = keyof typeof fleets
export type SizesName = 'pareto' | 'lognormal' | 'azure'

export const loads = [0.6, 0.7, 0.8, 0.9, 0.95] as const
/** Estimates are off by a lognormal factor: these are its sigmas. */
export const sigmas = [0.5, 2] as const

export interface Contender {
  name: string
  /** Without: the limit. */
  policy?: { scheduler: SchedulerName; discipline: DisciplineName }
  /** Goes by estimates. One that does not is run once for all sigmas. */
  estimates: boolean
  /** Draws at random. One that draws nothing and goes by no estimates does the same on a trace whatever the seed. */
  draws: boolean
}

const peer = (name: SchedulerName, draws = false, estimates = false): Contender => ({
  name,
  policy: { scheduler: name, discipline: 'sharing' },
  estimates,
  draws,
})

export const contenders: readonly Contender[] = [
  peer('round-robin'),
  peer('least-connections'),
  peer('least-work', false, true),
  peer('two-choices', true),
  {
    name: 'shortest first',
    policy: { scheduler: 'srpt', discipline: 'fifo' },
    estimates: true,
    draws: false,
  },
  { name: 'srpt', policy: { scheduler: 'srpt', discipline: 'srpt' }, estimates: true, draws: false },
  { name: 'limit', estimates: false, draws: false },
]

export interface Run {
  contender: string
  fleet: FleetName
  sizes: SizesName
  load: number
  sigma: number
  seed: number
  jobs: number
  warmup: number
}

/** Narrows a plan to the runs for which it says yes. */
export type Only = (run: Run) => boolean

/** Seed by seed, so that what is done at any time is a fair comparison. */
export function plan(quick: boolean, only: Only = () => true): Run[] {
  const runs: Run[] = []
  for (let seed = 1; seed <= (quick ? 4 : 16); seed++) {
    for (const fleet of Object.keys(fleets) as FleetName[])
      for (const sizes of sizesFor(fleet))
        for (const load of loads)
          for (const contender of contenders)
            for (const sigma of contender.estimates ? sigmas : [0]) {
              if (sizes === 'azure' && seed > traceSeeds(contender, quick)) continue
              const cell = { contender: contender.name, fleet, sizes, load, sigma, seed }
              runs.push({ ...cell, ...length(cell, quick) })
            }
  }
  return runs.filter(only)
}

/** For the largest fleet the trace would be over in three minutes: less than its longest job takes. */
function sizesFor(fleet: FleetName): SizesName[] {
  return fleet === '64×4' || !azureTrace() ? ['pareto', 'lognormal'] : ['pareto', 'lognormal', 'azure']
}

/** On a trace seeds differ in the errors of estimates and in policies' own draws, and in nothing else. */
function traceSeeds({ estimates, draws }: Contender, quick: boolean): number {
  return estimates || draws ? (quick ? 1 : 4) : 1
}

/** Most where the figures that matter are: at load 0.9 of the two small fleets. The first jobs find an empty fleet. */
function length({ fleet, sizes, load }: Pick<Run, 'fleet' | 'sizes' | 'load'>, quick: boolean) {
  if (sizes === 'azure') return { jobs: azureTrace()!.atMs.length, warmup: 0 }
  if (fleet === '64×4') return quick ? { jobs: 12_000, warmup: 4_000 } : { jobs: 44_000, warmup: 12_000 }
  if (load === 0.9) return quick ? { jobs: 33_000, warmup: 3_000 } : { jobs: 110_000, warmup: 10_000 }
  return quick ? { jobs: 9_000, warmup: 1_000 } : { jobs: 33_000, warmup: 3_000 }
}
