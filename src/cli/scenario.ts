/** The options that describe a simulated cluster and its traffic; `simulate` and `compare` share them. */

import type { OverflowOptions } from '../brain/functions/overflow-spec.ts'
import { oneOf } from '../lib/one-of.ts'
import { type DisciplineName, disciplines } from '../model/discipline.ts'
import { type RunSpec, unitsPerSecond } from '../simulate/simulate.ts'
import { traceFormats, usualTokenMs } from '../simulate/trace/read.ts'
import { usualDiscipline } from '../systems/brain-spec.ts'
import type { ScaleSpec } from '../systems/scalers.ts'
import { type SchedulerName, schedulers } from '../systems/schedulers.ts'
import type { OptionValues } from './options.ts'
import { moneyOptions, overflowOptions, pricesFrom } from './overflow.ts'
import { scaleFrom, scalingOptions } from './scaling.ts'
import type { ScenarioTraffic } from './traffic.ts'

const formatNames = traceFormats.map(({ name }) => name)

export const scenarioOptions = {
  workers: {
    help: 'workers in the fleet; with --scale the most of them',
    default: 2,
    min: 1,
    max: 100_000,
    whole: true,
  },
  min: { help: 'the least of them, with --scale', default: 1, min: 0, max: 100_000, whole: true },
  ...scalingOptions,
  cores: { help: 'cores of each worker', default: 2, min: 1, max: 1024, whole: true },
  load: {
    help: 'mean load of the cores; a trace keeps its own pace unless this is given',
    default: 0.9,
    min: 0.001,
    max: 10,
  },
  sizes: {
    help: 'pareto, lognormal, bimodal, exponential, a file with seconds of work, one a line, or a trace to draw from; a trace has its own unless this is given',
    default: 'lognormal',
  },
  arrivals: {
    help: 'poisson, bursty, diurnal, or a file with arrival times in seconds, one a line',
    default: 'poisson',
  },
  trace: {
    help: `recorded traffic in place of --arrivals, plain or gzipped: ${formatNames.join(', ')}`,
    default: undefined,
    value: 'FILE',
  },
  'trace-format': { help: 'its format, where its first line does not tell', default: undefined },
  from: {
    help: 'the part of a trace from here on: seconds since it begins, or a date (UTC)',
    default: undefined,
    value: 'TIME',
  },
  until: { help: 'the part of a trace before this', default: undefined, value: 'TIME' },
  thin: {
    help: 'the share of recorded requests that is kept; --load then stretches time',
    default: 1,
    min: 1e-9,
    max: 1,
  },
  'token-ms': {
    help: 'of azure-llm: ms of work for each token of context, and for each generated',
    default: usualTokenMs.join(','),
    value: 'N,N',
  },
  jobs: {
    help: 'jobs that arrive; of a trace all, or at most so many if this is given',
    default: 200_000,
    min: 1,
    max: 100_000_000,
    whole: true,
  },
  error: {
    help: 'estimates are off by a lognormal factor of this sigma; an event log has its own unless this is given',
    default: 0.5,
    min: 0,
    max: 10,
  },
  slots: {
    help: 'most jobs that a worker holds, running and paused; 0: cores + 16, or 10,000 where all run at once',
    default: 0,
    min: 0,
    max: 1_000_000,
    whole: true,
  },
  clients: {
    help: 'clients that the jobs are spread over, evenly in turn',
    default: 1,
    min: 1,
    max: 1_000_000,
    whole: true,
  },
  fair: { help: 'share the work between clients, under policies that rank jobs', default: false },
  queue: { help: 'most jobs that wait; one more is refused', default: 1_000_000, min: 0, whole: true },
  'boot-ms': { help: 'how long a worker takes to boot', default: 0, min: 0 },
  ...moneyOptions,
  ...overflowOptions,
  'function-speed': {
    help: 'how fast functions are beside a core of a worker',
    default: 1,
    min: 0.001,
    max: 1000,
  },
  'function-cold-ms': { help: 'how long a function takes to start', default: 500, min: 0 },
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

export function runSpec(
  scenario: Scenario,
  { scheduler, discipline }: Contender,
  seed: number,
  traffic: ScenarioTraffic,
): RunSpec {
  const { cores, error, queue } = scenario
  const slots = scenario.slots || (disciplines[discipline].bounded ? cores + 16 : 10_000)
  return {
    brain: {
      scheduler,
      discipline,
      scale: scaleOf(scenario),
      epoch: 1,
      seed,
      limits: { queue },
      // Where all jobs run at once nobody can be put behind.
      ...(scenario.fair && disciplines[discipline].ranks && { fair: true }),
      ...(scenario.functions > 0 && { overflow: overflowOf(scenario) }),
    },
    prices: pricesFrom(scenario),
    fleet: { cores, workPerSecond: unitsPerSecond, memoryMb: 1_000_000, slots, bootMs: scenario['boot-ms'] },
    seed,
    errorSigma: error,
    clients: scenario.clients,
    ...traffic.run(),
  }
}

/** Of a fixed size, unless a policy is named. */
function scaleOf(scenario: Scenario): ScaleSpec {
  const { workers, scale, 'boot-ms': bootMs } = scenario
  const min = scale === undefined ? workers : Math.min(scenario.min, workers)
  return { ...scaleFrom(scenario, { min, max: workers }), ...(bootMs > 0 && scale && { bootMs }) }
}

function overflowOf(scenario: Scenario): OverflowOptions {
  const { workerHour, gbSecond, request } = pricesFrom(scenario)
  return {
    concurrency: scenario.functions,
    workPerSecond: unitsPerSecond * scenario['function-speed'],
    coldMs: scenario['function-cold-ms'],
    prices: { workerHour, gbSecond, request, waitingHour: scenario['price-of-waiting'] },
  }
}

/** What a line of progress says: the number moves also when a per cent takes long. */
export function doing(what: string, answered: number): string {
  return `${what}: ${answered.toLocaleString('en-US')} jobs`
}
