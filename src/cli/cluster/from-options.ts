/** Turns the options of `up` into those of a cluster. */

import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CheckedConfig } from '../../config/check.ts'
import type { clusterOptions } from '../../config/cluster-options.ts'
import type { OptionValues } from '../../config/option.ts'
import { passEnvFrom } from '../../config/pass-env.ts'
import { ConfigError } from '../../lib/errors.ts'
import { type Cluster, type ClusterOptions, startCluster } from '../../live/cluster.ts'
import { forgetTokens, tokensInEnvironment } from '../../live/tokens.ts'
import { ofServed, type Preset } from '../../systems/preset.ts'
import { addressFrom, listFrom } from './addresses.ts'
import { cacheFrom } from './cache.ts'
import { clientsFrom } from './clients.ts'
import { ec2From } from './ec2.ts'
import { functionsFrom, pricesFrom } from './functions.ts'
import { keepFrom } from './keep.ts'
import { meterFrom } from './meter.ts'
import { filesFrom, partsOf, presetFrom } from './preset.ts'
import { scaleFrom } from './scaling.ts'
import { sourcesFrom } from './sources.ts'
import { tlsFrom } from './tls.ts'

const program = [
  process.execPath,
  // The warning would name the copies that the cluster keeps of the user's files.
  '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON',
  fileURLToPath(new URL('../plimsoll.js', import.meta.url)),
]

export function clusterFrom(
  values: OptionValues<typeof clusterOptions>,
  log: (line: string) => void,
  config?: CheckedConfig & { file: string },
): Promise<Cluster> {
  const options = clusterOptionsFrom(values, log, config)
  // This process loads modules of workloads.
  forgetTokens()
  return startCluster(options)
}

/** With a configuration of an existing server, that server takes the place of workloads. */
export function clusterOptionsFrom(
  values: OptionValues<typeof clusterOptions>,
  log: (line: string) => void,
  config?: CheckedConfig & { file: string },
): ClusterOptions {
  const server = config?.own
  const serverConfig = server && config.file
  const preset = presetFrom(values)
  const { min, max } = fleetSize(values, preset, server?.upstreams?.length)
  const cores = availableParallelism()
  const ec2 = ec2From(values, serverConfig)
  if (ec2.ec2 && server?.upstreams) throw new ConfigError('--fleet = ec2: cannot be combined with upstreams')
  if (max > cores && server?.upstreams === undefined && !ec2.ec2)
    log(`fleet: up to ${max} workers of one core each share the ${cores} cores of this machine`)
  const adminTls = tlsFrom(values.adminTlsCert, values.adminTlsKey, 'admin-tls')
  const files = server ? [] : filesFrom(values, preset)
  const meter = server ? 'off' : meterFrom(values, preset.meter && ofServed(preset.meter, files))
  return {
    files,
    ...(server && { own: server, config: resolve(config.file) }),
    sources: () => sourcesFrom(values, preset, { config, log }),
    dataDir: resolve(values.data),
    host: values.host,
    port: values.port,
    adminPort: values.adminPort,
    adminHost: values.adminHost,
    adminNames: listFrom(values.adminNames),
    ...(adminTls && { adminTls }),
    ...(values.joinAddress !== undefined && {
      joinAddress: addressFrom('--join-address', values.joinAddress),
    }),
    min,
    max,
    ...partsOf(withStallAfter(preset, values.stallAfter)),
    scale: scaleFrom(values, { min, max }, values.pricePerHour, preset.scale),
    meter,
    jobMemoryMb: values.jobMemory,
    niceness: values.nice,
    jobLimitMs: values.jobLimit * 1000,
    passEnv: passEnvFrom(values.passEnv),
    // A program that accepts several requests runs all of them.
    slots: Math.max(values.slots, server?.concurrency ?? preset.slots ?? 1),
    queue: values.queue,
    // Policies of other systems decide about each request.
    directBelowMs: values.preset === 'plimsoll' ? values.directBelow : 0,
    ...clientsFrom(values, meter, serverConfig),
    workerCommand: [...program, 'worker'],
    ...(values.fronts > 1 && { fronts: { count: values.fronts - 1, command: [...program, 'front'] } }),
    drainMs: values.drainHours * 3600 * 1000,
    prices: pricesFrom(values),
    ...functionsFrom(values, [...program, 'function'], serverConfig, preset),
    ...cacheFrom(values, serverConfig),
    ...keepFrom(values),
    ...ec2,
    ...(values.pricePerHour > 0 && { pricePerHour: values.pricePerHour }),
    tokens: tokensInEnvironment(),
    ...(values.eventLog !== undefined && { eventLog: values.eventLog }),
    log,
  }
}

/** Policies of other systems do not look for stalled jobs. */
function withStallAfter(preset: Preset, seconds: number): Preset {
  const usual = preset.limits?.stalls
  if (!usual) return preset
  const afterMs = seconds * 1000
  const stalls = seconds === 0 ? null : { ...usual, afterMs, forgetMs: afterMs * 10 }
  return { ...preset, limits: { ...preset.limits, stalls } }
}

/** Upstreams are not scaled: each has one worker. */
function fleetSize(
  asked: { min: number | undefined; max: number | undefined },
  { scale, simulatedMax }: Preset,
  upstreams: number | undefined,
): { min: number; max: number } {
  if (upstreams !== undefined) return { min: upstreams, max: upstreams }
  const min = asked.min ?? Math.min(scale?.min ?? 1, asked.max ?? Infinity)
  const max = asked.max ?? Math.max((simulatedMax ? undefined : scale?.max) ?? availableParallelism(), min)
  if (max < min) throw new ConfigError(`--max = ${max}: must be at least --min (${min})`)
  return { min, max }
}
