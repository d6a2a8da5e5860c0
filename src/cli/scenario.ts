/** The options that describe a simulated cluster and its traffic; `simulate` and `compare` share them. */

import { type SchedulerName, schedulers } from '../brain/schedule/index.ts'
import { oneOf, usualDiscipline } from '../brain/spec.ts'
import { ConfigError } from '../errors.ts'
import { type Arrivals, arrivalsFromFile, bursty, diurnal, poisson } from '../simulate/arrivals.ts'
import { type RunSpec, unitsPerSecond } from '../simulate/simulate.ts'
import { bimodal, exponential, lognormal, pareto, type Sizes, sizesFromFile } from '../simulate/sizes.ts'
import { type DisciplineName, disciplines } from '../worker/discipline.ts'
import type { OptionValues } from './options.ts'

export const scenarioOptions = {
  workers: { help: 'workers in the fleet', default: 2, min: 1, max: 100_000, whole: true },
  cores: { help: 'cores of each worker', default: 2, min: 1, max: 1024, whole: true },
  load: { help: 'mean load of the cores', default: 0.9, min: 0.001, max: 10 },
  sizes: {
    help: 'pareto, lognormal, bimodal, exponential, or a file with seconds of work, one a line',
    default: 'lognormal',
  },
  arrivals: {
    help: 'poisson, bursty, diurnal, or a file with arrival times in seconds, one a line',
    default: 'poisson',
  },
  jobs: { help: 'jobs that arrive', default: 200_000, min: 1, max: 100_000_000, whole: true },
  error: { help: 'estimates are off by a lognormal factor of this sigma', default: 0.5, min: 0, max: 10 },
  slots: {
    help: 'most jobs that a worker holds, running and paused; 0: cores + 16, or 10,000 where all run at once',
    default: 0,
    min: 0,
    max: 1_000_000,
    whole: true,
  },
  queue: { help: 'most jobs that wait; one more is refused', default: 1_000_000, min: 0, whole: true },
  'boot-ms': { help: 'how long a worker takes to boot', default: 0, min: 0 },
  seed: { help: 'the seed of all randomness', default: 1, min: 0, max: 2 ** 48, whole: true },
} as const

export type Scenario = OptionValues<typeof scenarioOptions>

/** A policy as the command line names it: `srpt`, or `least-connections:fifo` with the workers' discipline. */
export interface Contender {
  name: string
  scheduler: SchedulerName
  discipline: DisciplineName
}

export function contender(text: string): Contender {
  const [name = '', asked] = text.split(':')
  oneOf('policy', name, schedulers)
  const scheduler = name as SchedulerName
  const discipline = (asked ?? usualDiscipline(scheduler)) as DisciplineName
  oneOf('discipline', discipline, disciplines)
  return { name: text, scheduler, discipline }
}

export function runSpec(scenario: Scenario, { scheduler, discipline }: Contender, seed: number): RunSpec {
  const { workers, cores, load, jobs, error, queue } = scenario
  const sizes = sizesOf(scenario.sizes)
  const perSecond = (load * workers * cores) / sizes.meanSeconds
  const slots = scenario.slots || (disciplines[discipline].bounded ? cores + 16 : 10_000)
  return {
    brain: {
      scheduler,
      discipline,
      scale: { min: workers, max: workers },
      epoch: 1,
      seed,
      limits: { queue },
    },
    fleet: { cores, workPerSecond: unitsPerSecond, memoryMb: 1_000_000, slots, bootMs: scenario['boot-ms'] },
    seed,
    jobs,
    arrivals: arrivalsOf(scenario.arrivals, perSecond),
    sizes,
    errorSigma: error,
  }
}

function sizesOf(name: string): Sizes {
  const kinds: Record<string, () => Sizes> = { pareto, lognormal, bimodal, exponential }
  if (Object.hasOwn(kinds, name)) return kinds[name]!()
  if (looksLikeFile(name)) return sizesFromFile(name)
  throw new ConfigError(`--sizes = ${name}: must be one of ${Object.keys(kinds).join(', ')}, or a file`)
}

function arrivalsOf(name: string, perSecond: number): Arrivals {
  const kinds: Record<string, (perSecond: number) => Arrivals> = { poisson, bursty, diurnal }
  if (Object.hasOwn(kinds, name)) return kinds[name]!(perSecond)
  if (looksLikeFile(name)) return arrivalsFromFile(name)
  throw new ConfigError(`--arrivals = ${name}: must be one of ${Object.keys(kinds).join(', ')}, or a file`)
}

function looksLikeFile(name: string): boolean {
  return name.includes('/') || name.includes('.')
}
