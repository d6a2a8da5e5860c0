/** The runs: every contender on the same jobs, for each fleet, distribution of sizes, load and seed. */

import type { DisciplineName } from '../../src/model/discipline.ts'
import type { SchedulerName } from '../../src/systems/schedulers.ts'
import { azureTrace } from './trace.ts'

export const fleets = {
  '2×2': { workers: 2, cores: 2 },
  '8×2': { workers: 8, cores: 2 },
  '64×4': { workers: 64, cores: 4 },
} as const
export type FleetName = keyof typeof fleets
export type SizesName = 'pareto' | 'lognormal' | 'azure'

export const loads = [0.6, 0.7, 0.8, 0.9, 0.95] as const
/** Only used to find the highest load that keeps a promise. */
export const lowLoads = [0.2, 0.3, 0.4, 0.5] as const

export interface Contender {
  name: string
  /** Undefined: the limit. */
  policy?: { scheduler: SchedulerName; discipline: DisciplineName }
  /** Estimates are off by a lognormal factor of these sigmas. [0]: uses no estimates. */
  sigmas: readonly number[]
  /** Draws at random. Without draws and estimates, all seeds give the same result on a trace. */
  draws?: true
}

const sharing = (scheduler: SchedulerName) => ({ scheduler, discipline: 'sharing' }) as const

export const contenders: readonly Contender[] = [
  { name: 'round-robin', policy: sharing('round-robin'), sigmas: [0] },
  { name: 'least-connections', policy: sharing('least-connections'), sigmas: [0] },
  { name: 'two-choices', policy: sharing('two-choices'), sigmas: [0], draws: true },
  { name: 'prequal', policy: sharing('prequal'), sigmas: [0], draws: true },
  { name: 'least-work', policy: sharing('least-work'), sigmas: [0.5, 2] },
  { name: 'shortest-first', policy: { scheduler: 'srpt', discipline: 'fifo' }, sigmas: [0.5] },
  { name: 'srpt', policy: { scheduler: 'srpt', discipline: 'srpt' }, sigmas: [0.5, 2] },
  { name: 'limit', sigmas: [0] },
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

/** Selects runs of a plan. */
export type Only = (run: Run) => boolean

/** Ordered by seed, so that an interrupted plan is still a fair comparison. */
export function plan(quick: boolean, only: Only = () => true): Run[] {
  const runs: Run[] = []
  for (let seed = 1; seed <= (quick ? 4 : 16); seed++)
    for (const fleet of Object.keys(fleets) as FleetName[])
      for (const sizes of sizesFor(fleet))
        for (const load of [...lowLoads, ...loads])
          for (const contender of contenders)
            for (const sigma of contender.sigmas) {
              const run = { contender: contender.name, fleet, sizes, load, sigma, seed }
              if (sizes === 'azure' && seed > traceSeeds(contender, quick)) continue
              if (load < loads[0] && !tellsHighestLoad(run)) continue
              runs.push({ ...run, ...length(run, quick) })
            }
  return runs.filter(only)
}

/** Scaled to the largest fleet, the trace would last three minutes, less than its longest job. */
function sizesFor(fleet: FleetName): SizesName[] {
  return fleet === '64×4' || !azureTrace() ? ['pareto', 'lognormal'] : ['pareto', 'lognormal', 'azure']
}

/** On a trace, seeds differ only in the errors of estimates and in the policies' draws. */
function traceSeeds({ sigmas, draws }: Contender, quick: boolean): number {
  return (draws || sigmas[0]! > 0) && !quick ? 4 : 1
}

function tellsHighestLoad({ contender, fleet, sizes, sigma }: Omit<Run, 'jobs' | 'warmup'>): boolean {
  const compared = contender === 'least-connections' || (contender === 'srpt' && sigma === 0.5)
  return compared && fleet === '2×2' && sizes !== 'azure'
}

/** High loads, which the headline uses, need more jobs: half of the load comes from rare long ones. */
function length({ fleet, sizes, load }: Pick<Run, 'fleet' | 'sizes' | 'load'>, quick: boolean) {
  if (sizes === 'azure') return { jobs: azureTrace()!.atMs.length, warmup: 0 }
  if (fleet === '64×4') return quick ? { jobs: 12_000, warmup: 2_000 } : { jobs: 45_000, warmup: 5_000 }
  if (load >= 0.9) return quick ? { jobs: 22_000, warmup: 2_000 } : { jobs: 105_000, warmup: 5_000 }
  return quick ? { jobs: 11_000, warmup: 1_000 } : { jobs: 42_000, warmup: 2_000 }
}
