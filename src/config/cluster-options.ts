/** The options of a cluster: flags of `plimsoll up` and keys of the configuration file. Other commands share some. */

import { formulaText } from '../model/metering.ts'
import { defaultFormula } from '../model/metrics.ts'
import { awsOptions } from './aws-options.ts'
import { functionOptions, functionProviderOptions, priceOptions } from './function-options.ts'
import { inputOptions, proxyOptions } from './input-options.ts'
import { jobOptions } from './job-options.ts'
import { keepOptions } from './keep-options.ts'
import { networkOptions } from './network-options.ts'
import { type ConfigValues, type OptionSpecs, under } from './option.ts'
import { presetNames } from './preset-names.ts'

export { functionOptions, functionProviderOptions, priceOptions }

/** Without `planned` and `wandering`: no option holds their plan. */
export const scalerNames = [
  ...(['fixed', 'work-forecast', 'hpa', 'kpa'] as const),
  ...(['queue-length', 'on-misfit', 'cpu-ema', 'average-work', 'cpu-step'] as const),
] as const

export const commonOptions = under('Common', {
  port: { type: 'integer', help: 'public port; 0 picks a free one', default: 8080, min: 0, max: 65_535 },
  workloads: {
    type: 'text',
    help: 'modules or folders with workloads, separated by commas; default: the bundled ones',
    value: 'PATHS',
    path: 'list',
  },
  min: { type: 'integer', help: "minimum number of workers; default: the preset's, or 1", min: 0, max: 1000 },
  max: {
    type: 'integer',
    help: "maximum number of workers; default: the preset's, or the machine's cores",
    min: 1,
    max: 1000,
  },
  data: {
    type: 'text',
    help: 'folder for the ledger, kept code and the files of workloads',
    default: '.plimsoll',
    value: 'DIR',
    path: 'one',
  },
  preset: { type: 'text', help: 'composition of policies', default: 'plimsoll', choices: presetNames },
})

export const scalingOptions = under('Scaling', {
  scale: {
    type: 'text',
    help: 'scaling policy (default: work-forecast if --max is above --min, else fixed)',
    choices: scalerNames,
  },
  target: {
    type: 'number',
    help: 'target utilisation of the cores, for hpa and kpa; 0: 0.7',
    default: 0,
    min: 0,
    max: 100,
  },
  promise: {
    type: 'text',
    help:
      'service level that work-forecast keeps: "deadlines: 99 %", "budget: 5 an hour", or slowdowns; default: ' +
      '"shortest 90 %: slowdown at most 1.5 at p99; largest 1 %: at most 1.5 on average"',
    value: 'TEXT',
  },
  paidMinimum: {
    type: 'number',
    help: 'minimum billed time of a worker, in seconds; workers are not terminated earlier',
    default: 0,
    min: 0,
    max: 1e9,
    value: 'SECONDS',
  },
  paidPeriod: {
    type: 'number',
    help: 'billing period of a worker, in seconds; workers are terminated near its end; 0: none',
    default: 0,
    min: 0,
    max: 1e9,
    value: 'SECONDS',
  },
})

export const limitOptions = under('Limits', {
  queue: {
    type: 'integer',
    help: 'maximum queue length; further requests are rejected',
    default: 10_000,
    min: 0,
  },
  slots: {
    type: 'integer',
    help: 'maximum number of jobs on a worker, running and paused',
    default: 17,
    min: 1,
    max: 10_000,
  },
  jobMemory: {
    type: 'integer',
    help: 'memory limit of one job, in MB',
    default: 512,
    min: 96,
    value: 'MB',
  },
  stopAfter: {
    type: 'number',
    help: 'grace period for running requests on SIGTERM, in seconds',
    default: 30,
    min: 0,
    value: 'SECONDS',
  },
  processMemory: {
    type: 'integer',
    help:
      'memory limit of the main process and of each front, in MB: above 80 % of it they hold, shed and then refuse ' +
      'requests; 0: half of the memory of the machine or container',
    default: 0,
    min: 0,
    value: 'MB',
  },
  nice: { type: 'integer', help: 'niceness of the processes that run jobs', default: 0, min: 0, max: 19 },
})

export const clientOptions = under('Clients', {
  clientBy: {
    type: 'text',
    help:
      'what identifies a client: address, key (bearer token or x-api-key) or header:NAME. ' +
      'Clients can forge headers unless a proxy sets them; header:x-forwarded-for requires --trusted-proxies',
    default: 'address',
    value: 'HOW',
  },
  fair: {
    type: 'flag',
    help: 'share the work fairly between clients: those above their share go after the others',
  },
  rateLimit: {
    type: 'text',
    help: 'work each client may use per minute: units, or seconds of a core such as 90s; default: no limit',
    value: 'WORK',
    numeric: true,
  },
  rateBurst: {
    type: 'text',
    help: "work a client may use at once after a pause; default: one minute's worth",
    value: 'WORK',
    numeric: true,
  },
  clientConnections: {
    type: 'integer',
    help: 'maximum number of open connections of one address to one front; further ones are refused',
    default: 20_000,
    min: 1,
  },
  clientRequests: {
    type: 'integer',
    help: 'maximum number of requests that one client has in progress at one front; further ones get a 429',
    default: 20_000,
    min: 1,
  },
  exposeErrors: {
    type: 'flag',
    help: 'show clients the messages and stacks of errors that workloads throw; for development',
  },
})

export const cacheOptions = under('Cache', {
  coalesce: {
    type: 'flag',
    help: 'let identical concurrent requests to deterministic workloads share one job',
  },
  cache: {
    type: 'number',
    help: 'size of the cache for answers of deterministic workloads, in MB; 0: none',
    default: 0,
    min: 0,
    max: 1_000_000,
    value: 'MB',
  },
  cacheAge: {
    type: 'number',
    help: 'maximum age of a cached answer, in seconds; 0: no limit',
    default: 0,
    min: 0,
    value: 'SECONDS',
  },
})

export const meterOptions = under('Metering', {
  meter: {
    type: 'text',
    help:
      'how work is counted: work (one number), regions (metric by metric, slower), routines (function calls, ' +
      "coarse) or off (CPU time); default: the preset's, or work",
    choices: ['work', 'regions', 'routines', 'off'],
    value: 'MODE',
  },
  formula: {
    type: 'text',
    help: `what counts as work: METRIC=COEFFICIENT,…; default: the preset's, or ${formulaText(defaultFormula)}`,
    value: 'TERMS',
  },
  meterOnly: {
    type: 'text',
    help:
      'the code whose work counts: WORKLOAD=MODULE+MODULE,…; a module as the workload imports it, or MODULE#FUNCTION; ' +
      "all: everything; default: the preset's",
    value: 'LIST',
  },
})

const scaleOptions = under('Presets', {
  timeScale: {
    type: 'number',
    help: "divides the preset's times: with 60, its minutes become seconds",
    default: 1,
    min: 0.001,
    max: 100_000,
  },
  workScale: {
    type: 'number',
    help: "divides the preset's amounts of work",
    default: 1,
    min: 1e-6,
    max: 1e9,
  },
  constants: {
    type: 'text',
    help: "in place of the preset's measured constants, as plimsoll calibrate writes them",
    value: 'NAME=N,…',
  },
})

const logOptions = under('Logs', {
  eventLog: {
    type: 'text',
    help: 'write the event log to this file',
    value: 'FILE',
    path: 'one',
  },
})

/** The order is that of the help page. */
export const clusterOptions = {
  ...commonOptions,
  ...networkOptions,
  ...scalingOptions,
  ...limitOptions,
  ...jobOptions,
  ...inputOptions,
  ...clientOptions,
  ...proxyOptions,
  ...cacheOptions,
  ...keepOptions,
  ...awsOptions,
  ...functionOptions,
  ...functionProviderOptions,
  ...priceOptions,
  ...meterOptions,
  ...scaleOptions,
  ...logOptions,
} as const satisfies OptionSpecs

/** The options of `plimsoll up` in a configuration file. Flags on the command line override them. */
export type UpConfig = ConfigValues<typeof clusterOptions>
