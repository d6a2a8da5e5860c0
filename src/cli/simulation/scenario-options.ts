/** A simulated cluster and its traffic, as described by the options of `simulate` and `compare`. */

import { functionOptions, limitOptions, priceOptions, scalingOptions } from '../../config/cluster-options.ts'
import type { OptionSpecs, OptionValues } from '../../config/option.ts'
import { traceFormats, usualTokenMs } from '../../simulate/trace/read.ts'

const formatNames = traceFormats.map(({ name }) => name)

/** `simulate` and `compare` share these; scaling, functions and prices are those of `up`. */
export const scenarioOptions = {
  workers: {
    topic: 'Cluster',
    type: 'integer',
    help: 'number of workers; with --scale, the maximum',
    default: 2,
    min: 1,
    max: 100_000,
  },
  min: {
    topic: 'Cluster',
    type: 'integer',
    help: 'minimum number of workers, with --scale',
    default: 1,
    min: 0,
    max: 100_000,
  },
  cores: { topic: 'Cluster', type: 'integer', help: 'cores per worker', default: 2, min: 1, max: 1024 },
  slots: {
    topic: 'Cluster',
    type: 'integer',
    help: 'maximum number of jobs on a worker; 0: cores + 16, or 10,000 if all jobs run at once',
    default: 0,
    min: 0,
    max: 1_000_000,
  },
  queue: { ...limitOptions.queue, topic: 'Cluster', default: 1_000_000 },
  bootMs: { topic: 'Cluster', type: 'number', help: 'worker boot time', default: 0, min: 0, value: 'MS' },
  jobs: {
    topic: 'Traffic',
    type: 'integer',
    help: 'number of jobs; of a trace, the maximum if given, else all',
    default: 200_000,
    min: 1,
    max: 100_000_000,
  },
  load: {
    topic: 'Traffic',
    type: 'number',
    help: 'mean load of the cores; a trace keeps its own pace unless this is given',
    default: 0.9,
    min: 0.001,
    max: 10,
  },
  sizes: {
    topic: 'Traffic',
    type: 'text',
    help:
      'job sizes: pareto, lognormal, bimodal, exponential, a file with seconds of work (one per line), or a ' +
      'trace to draw from; a trace keeps its own sizes unless this is given',
    default: 'lognormal',
  },
  arrivals: {
    topic: 'Traffic',
    type: 'text',
    help: 'poisson, bursty, diurnal, or a file with arrival times in seconds (one per line)',
    default: 'poisson',
  },
  error: {
    topic: 'Traffic',
    type: 'number',
    help: 'sigma of the lognormal error of estimates; an event log keeps its own estimates unless this is given',
    default: 0.5,
    min: 0,
    max: 10,
  },
  clients: {
    topic: 'Traffic',
    type: 'integer',
    help: 'number of clients that jobs are assigned to in turn',
    default: 1,
    min: 1,
    max: 1_000_000,
  },
  fair: {
    topic: 'Traffic',
    type: 'flag',
    help: 'share the work fairly between clients, with policies that rank jobs',
  },
  seed: {
    topic: 'Traffic',
    type: 'integer',
    help: 'seed of all randomness',
    default: 1,
    min: 0,
    max: 2 ** 48,
  },
  trace: {
    topic: 'Traces',
    type: 'text',
    help: `recorded traffic in place of --arrivals, plain or gzipped: ${formatNames.join(', ')}`,
    value: 'FILE',
  },
  traceFormat: {
    topic: 'Traces',
    type: 'text',
    help: 'format of the trace; default: recognised by its first line',
  },
  from: {
    topic: 'Traces',
    type: 'text',
    help: 'start of the part of the trace to use: seconds from its beginning, or a date (UTC)',
    value: 'TIME',
  },
  until: { topic: 'Traces', type: 'text', help: 'end of that part', value: 'TIME' },
  thin: {
    topic: 'Traces',
    type: 'number',
    help: 'share of the recorded requests to keep; --load then stretches time',
    default: 1,
    min: 1e-9,
    max: 1,
  },
  tokenMs: {
    topic: 'Traces',
    type: 'text',
    help: 'azure-llm: milliseconds of work per context token and per generated token',
    default: usualTokenMs.join(','),
    value: 'N,N',
  },
  ...scalingOptions,
  ...functionOptions,
  functionSpeed: {
    topic: 'Functions',
    type: 'number',
    help: 'speed of a function relative to a core of a worker',
    default: 1,
    min: 0.001,
    max: 1000,
  },
  functionColdMs: {
    topic: 'Functions',
    type: 'number',
    help: 'cold start of a function',
    default: 500,
    min: 0,
    value: 'MS',
  },
  ...priceOptions,
} as const satisfies OptionSpecs

export type Scenario = OptionValues<typeof scenarioOptions>
