/** Turns the options of `createCluster` into those of a live cluster. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { clusterOptionsFrom } from '../cli/cluster/from-options.ts'
import { readOptions } from '../cli/options.ts'
import { type CheckedConfig, checkConfig, configKeys, type OwnCluster } from '../config/check.ts'
import { clusterOptions } from '../config/cluster-options.ts'
import { checkFields } from '../lib/check-fields.ts'
import { invalid } from '../lib/checks.ts'
import { ConfigError } from '../lib/errors.ts'
import { oneOf } from '../lib/one-of.ts'
import type { ClusterOptions } from '../live/cluster.ts'
import { disciplines } from '../model/discipline.ts'
import { usualDiscipline } from '../systems/brain-spec.ts'
import { schedulers } from '../systems/schedulers.ts'
import { nominalRate } from '../worker/rates.ts'
import type { CreateClusterOptions } from './cluster-types.ts'
import type { OnFault } from './policies/guard.ts'
import { ownEstimator } from './policies/own-estimator.ts'
import { ownScaler } from './policies/own-scaler.ts'
import { ownScheduler } from './policies/own-scheduler.ts'

/** Options that a configuration does not have, or that take more here. */
const ownKeys = [
  ...['workloads', 'scheduler', 'discipline', 'scaler', 'estimator', 'readyWithinMs', 'signal', 'log'],
] as const satisfies (keyof CreateClusterOptions)[]

export interface ResolvedOptions {
  cluster: ClusterOptions
  /** Grace period of running requests. */
  stopMs: number
}

/** What `resolveOptions` needs besides the options. */
export interface ResolveParts {
  /** A temporary folder of the cluster. */
  folder: string
  log(line: string): void
  onFault: OnFault
}

/** Throws a `ConfigError` or a `PolicyError`. */
export function resolveOptions(options: CreateClusterOptions, parts: ResolveParts): ResolvedOptions {
  checkFields('the options', options, [...new Set([...configKeys, ...ownKeys])])
  const { workloads, scheduler, discipline, scaler, estimator, readyWithinMs, signal, log, ...rest } = options
  const paths = workloadPaths(workloads)
  const defaults = { port: 0, adminPort: 0, data: parts.folder }
  const config = checkConfig(
    { ...defaults, ...given(rest), ...(paths !== undefined && { workloads: paths }) },
    process.cwd(),
  )
  const { values } = readOptions([], clusterOptions, { file: 'options', values: config.options })
  const filed = withFile(config, rest, parts.folder)
  const { sources, ...cluster } = clusterOptionsFrom(values, parts.log, filed)
  return {
    // The file for workers lacks routes with functions, so a restart uses these options again.
    cluster: {
      ...cluster,
      ...(sources && !config.own && { sources }),
      ...ownServer(filed),
      ...ownPolicies(options, cluster, parts.onFault),
    },
    stopMs: values.stopAfter * 1000,
  }
}

/** Without options that are undefined, so that they do not replace defaults. */
function given(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

function workloadPaths(workloads: CreateClusterOptions['workloads']): string | undefined {
  if (workloads === undefined) return undefined
  const list: readonly unknown[] = Array.isArray(workloads) ? workloads : [workloads]
  const paths = list.map((each) => {
    const path = pathOf(each)
    // Workers are given all paths in one argument.
    if (path === undefined || path === '' || path.includes(','))
      throw invalid('workloads', each, 'a path or a file: URL, without commas')
    return path
  })
  if (paths.length === 0) throw invalid('workloads', workloads, 'one path or more')
  return paths.join(',')
}

function pathOf(given: unknown): string | undefined {
  if (given instanceof URL) return given.protocol === 'file:' ? fileURLToPath(given) : undefined
  if (typeof given !== 'string') return undefined
  return given.startsWith('file:') ? fileURLToPath(given) : given
}

/** Workers read the configuration of an existing server from a file. */
function withFile(
  config: CheckedConfig,
  options: object,
  folder: string,
): (CheckedConfig & { file: string }) | undefined {
  if (!config.own) return undefined
  const file = join(folder, 'server.json')
  writeFileSync(file, JSON.stringify(serverConfig(config.own, options)), { mode: 0o600 })
  return { ...config, file }
}

/** The server of the options is the one to serve: the file lacks functions. */
function ownServer(filed: (CheckedConfig & { file: string }) | undefined): Pick<ClusterOptions, 'sources'> {
  if (!filed?.own) return {}
  const { own, file } = filed
  return { sources: async () => ({ files: [], own, config: file }) }
}

/** What workers and fronts need to know; functions cannot be written to a file. */
function serverConfig(own: OwnCluster, options: { routes?: unknown; fronts?: number }): object {
  const hasFunction = own.routes.some((_, i) => {
    const route = Array.isArray(options.routes) ? (options.routes[i] as { features?: unknown }) : {}
    return typeof route?.features === 'function'
  })
  if (hasFunction && (options.fronts ?? 1) > 1)
    throw new ConfigError(
      `fronts = ${options.fronts}: cannot be combined with features that are functions; name their sources instead`,
    )
  const { workers, upstreams, health, concurrency, maxBodyBytes } = own
  const server = workers ? { workers } : { upstreams, concurrency, ...(health !== undefined && { health }) }
  return {
    ...server,
    maxBodyBytes,
    ...(!hasFunction && options.routes !== undefined && { routes: options.routes }),
  }
}

/** Options of the cluster that the caller's policies replace. */
function ownPolicies(
  { scheduler, discipline, scaler, estimator, scale }: CreateClusterOptions,
  { min, max, meter, discipline: usual }: ClusterOptions,
  onFault: OnFault,
): Partial<ClusterOptions> {
  if (scaler && scale !== undefined) throw new ConfigError(`scale = ${scale}: cannot be combined with scaler`)
  const follows = discipline && oneOf('discipline', discipline, disciplines).name
  return {
    ...schedulerParts(scheduler, onFault),
    discipline:
      follows ?? (typeof scheduler === 'string' ? usualDiscipline(scheduler) : scheduler ? 'sharing' : usual),
    ...(scaler && { scaler: ownScaler(scaler, { min, max }, onFault) }),
    ...(estimator && { estimator: ownEstimator(estimator, nominalRate(meter ?? 'off') * 100, onFault) }),
  }
}

function schedulerParts(
  scheduler: CreateClusterOptions['scheduler'],
  onFault: OnFault,
): Partial<Pick<ClusterOptions, 'scheduler' | 'ownScheduler'>> {
  if (scheduler === undefined) return {}
  if (typeof scheduler === 'function') {
    const { name, create } = ownScheduler(scheduler, onFault)
    return { scheduler: name, ownScheduler: create }
  }
  oneOf('scheduler', scheduler, schedulers)
  return { scheduler }
}
