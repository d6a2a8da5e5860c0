import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ConfigError } from '../lib/errors.ts'
import { type Cluster, startCluster } from '../live/cluster.ts'
import type { Preset } from '../systems/preset.ts'
import { clientsFrom, clientsOptions } from './clients.ts'
import { type Configured, configOption, readConfigured } from './config.ts'
import { meterFrom, meterOptions } from './meter.ts'
import type { Command, OptionValues } from './options.ts'
import { functionsFrom, moneyOptions, overflowOptions, pricesFrom } from './overflow.ts'
import { filesFrom, partsOf, presetFrom, presetOptions } from './preset.ts'
import { repeatOptions, repeatsFrom } from './repeats.ts'
import { scaleFrom, scalingOptions } from './scaling.ts'

export const clusterOptions = {
  port: { help: 'public port; 0: any', default: 8080, min: 0, max: 65_535, whole: true },
  'admin-port': {
    help: 'port for operators and workers, on loopback; 0: any',
    default: 8081,
    min: 0,
    max: 65_535,
    whole: true,
  },
  host: { help: 'address to listen on', default: '127.0.0.1' },
  fronts: {
    help: 'processes that take requests at the public port; 1: this one only',
    default: 1,
    min: 1,
    max: 64,
    whole: true,
  },
  min: {
    help: 'least number of workers; -1: as the preset says, or 1',
    default: -1,
    min: -1,
    max: 1000,
    whole: true,
  },
  max: {
    help: "most workers; 0: as the preset says, or as many as the machine's cores",
    default: 0,
    min: 0,
    max: 1000,
    whole: true,
  },
  ...presetOptions,
  workloads: {
    help: 'modules or folders with workloads, separated by commas; default: those that come along',
    default: undefined,
    value: 'PATHS',
  },
  ...scalingOptions,
  ...meterOptions,
  data: { help: 'folder for the ledger and for what workloads keep', default: '.plimsoll', value: 'DIR' },
  queue: { help: 'most jobs that wait; one more is refused', default: 10_000, min: 0, whole: true },
  slots: {
    help: 'most jobs that a worker holds, running and paused',
    default: 17,
    min: 1,
    max: 10_000,
    whole: true,
  },
  ...clientsOptions,
  'job-memory': { help: 'bound for one job, in MB', default: 512, min: 96, whole: true },
  ...moneyOptions,
  ...overflowOptions,
  ...repeatOptions,
  'stop-after': { help: 'on SIGTERM, how many seconds running requests are given', default: 30, min: 0 },
  'event-log': { help: 'write the event log to this file', default: undefined, value: 'FILE' },
} as const

const upOptions = { ...configOption, ...clusterOptions } as const

const program = [process.execPath, fileURLToPath(new URL('./plimsoll.js', import.meta.url))]

/** Starts the cluster that the options describe; with a configuration of an own server, that serves in place of workloads. */
export function clusterFrom(
  values: OptionValues<typeof clusterOptions>,
  log: (line: string) => void,
  config?: Configured<typeof upOptions>['config'],
): Promise<Cluster> {
  const own = config?.own
  const preset = presetFrom(values)
  const { min, max } = fleetSize(values, preset, own?.upstreams?.length)
  if (max > availableParallelism() && own?.upstreams === undefined)
    log(
      `fleet: up to ${max} workers of one core each share the ${availableParallelism()} cores of this machine`,
    )
  const meter = own ? 'off' : meterFrom(values, preset.meter)
  return startCluster({
    files: own ? [] : filesFrom(values, preset),
    ...(own && { own, config: resolve(config.file) }),
    dataDir: resolve(values.data),
    host: values.host,
    port: values.port,
    adminPort: values['admin-port'],
    min,
    max,
    ...partsOf(preset),
    scale: scaleFrom(values, { min, max }, values['price-per-hour'], preset.scale),
    meter,
    jobMemoryMb: values['job-memory'],
    // Requests that a program takes at the same time all run.
    slots: Math.max(values.slots, own?.concurrency ?? preset.slots ?? 1),
    queue: values.queue,
    ...clientsFrom(values, meter),
    workerCommand: [...program, 'worker'],
    ...(values.fronts > 1 && { fronts: { count: values.fronts - 1, command: [...program, 'front'] } }),
    prices: pricesFrom(values),
    ...functionsFrom(values, [...program, 'function'], own && config.file, preset.overflow),
    ...repeatsFrom(values, own && config.file),
    ...(values['price-per-hour'] > 0 && { pricePerHour: values['price-per-hour'] }),
    ...(process.env.PLIMSOLL_TOKEN && { token: process.env.PLIMSOLL_TOKEN }),
    ...(values['event-log'] !== undefined && { eventLog: values['event-log'] }),
    log,
  })
}

/** Upstreams are not scaled: each has its worker. */
function fleetSize(
  { min: least, max: most }: { min: number; max: number },
  { scale }: Preset,
  upstreams: number | undefined,
): { min: number; max: number } {
  if (upstreams !== undefined) return { min: upstreams, max: upstreams }
  const min = least >= 0 ? least : Math.min(scale?.min ?? 1, most || Infinity)
  const max = most || Math.max(scale?.max ?? availableParallelism(), min)
  if (max < min) throw new ConfigError(`--max = ${most}: must be at least --min (${min})`)
  return { min, max }
}

/** A request worth a try. */
function example({ workloads }: Cluster, own: boolean): string {
  if (own) return ''
  return workloads.includes('factorize') ? 'factorize?n=999985999949' : (workloads[0] ?? '-/workloads')
}

function welcome(cluster: Cluster, own: boolean, afterMs: number): string {
  return `
  Plimsoll is ready after ${(afterMs / 1000).toFixed(1)} s.

  requests   ${cluster.url}
  admin      ${cluster.adminUrl}/api/state
  join       plimsoll worker --join ${cluster.adminUrl} --token ${cluster.token}
  stop       Ctrl-C

  Try:  curl '${cluster.url.replace('127.0.0.1', 'localhost')}/${example(cluster, own)}'
`
}

/** A cluster on this machine. */
export const up: Command = {
  summary: 'Start a cluster on this machine: front, brain and workers.',
  usage: '[options]',
  options: upOptions,
  async run(args) {
    const began = performance.now()
    const { values, rest, config } = await readConfigured(args, upOptions, (line) => console.log(line))
    if (rest.length > 0) throw new ConfigError(`up: unexpected ${rest.join(' ')}`)
    const cluster = await clusterFrom(values, (line) => console.error(line), config)
    const stopped = Promise.withResolvers<void>()
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        console.log(`\nStopping: running requests have ${values['stop-after']} s.`)
        cluster.stop(values['stop-after'] * 1000).then(stopped.resolve, stopped.reject)
      })
    }
    const ready = values.min === 0 ? Promise.resolve() : cluster.ready
    // It may be told to stop before any worker came up.
    const came = await Promise.race([ready.then(() => true), stopped.promise.then(() => false)])
    if (came) console.log(welcome(cluster, config?.own !== undefined, performance.now() - began))
    await stopped.promise
    return 0
  },
}
