/** Checks a whole configuration: every option by name, and that those that are there go together. */

import { resolve } from 'node:path'
import { ConfigError } from '../lib/errors.ts'
import { type CheckedRoute, checkRoutes } from './check-routes.ts'
import {
  type CheckedServer,
  checkConcurrency,
  checkHealthPath,
  checkServer,
  checkUpstreams,
} from './check-server.ts'
import type { UpConfig } from './config.ts'
import { fieldsOf, numberOf, wrong } from './refuse.ts'

/** An HTTP server of the user's own in place of workloads. */
export interface OwnCluster {
  /** Exactly one of the two is there: programs to be started, */
  readonly workers?: CheckedServer
  /** or the origins of those that run already. */
  readonly upstreams?: readonly string[]
  /** Of upstreams: a path that they answer when they are well. */
  readonly health?: string
  /** Requests that each program is given at a time. */
  readonly concurrency: number
  readonly routes: readonly CheckedRoute[]
  readonly maxBodyBytes: number
}

export interface CheckedConfig {
  /** Those of `up` that are given; their values are checked with those of the command line. */
  readonly options: UpConfig
  readonly own?: OwnCluster
}

export const upOptions = [
  ...[
    'port',
    'adminPort',
    'host',
    'fronts',
    'min',
    'max',
    'preset',
    'timeScale',
    'workScale',
    'workloads',
    'meter',
    'formula',
    'data',
    'queue',
  ],
  ...['slots', 'clientBy', 'fair', 'rateLimit', 'rateBurst', 'jobMemory', 'pricePerHour', 'stopAfter'],
  ...['scale', 'target', 'promise', 'paidMinimum', 'paidPeriod'],
  ...['functions', 'pricePerGbSecond', 'pricePerInvocation', 'priceOfWaiting'],
  ...['coalesce', 'cache', 'cacheAge', 'eventLog'],
] as const satisfies (keyof UpConfig)[]

const ownOptions = ['workers', 'upstreams', 'health', 'concurrency', 'routes', 'maxBodyBytes'] as const
/** What is said of workloads. */
const ofWorkloads = ['workloads', 'meter', 'formula'] as const
/** Paths, which begin at the configuration's folder. */
const paths: readonly string[] = ['data', 'eventLog']
const gibibyte = 1024 ** 3

/** `folder` is where relative paths begin. */
export function checkConfig(given: unknown, folder: string): CheckedConfig {
  const fields = fieldsOf('the configuration', given, [...ownOptions, ...upOptions])
  const options = Object.fromEntries(
    upOptions
      .filter((name) => fields[name] !== undefined)
      .map((name) => [name, from(folder, name, fields[name])]),
  )
  if (fields.workers === undefined && fields.upstreams === undefined) {
    const alone = ownOptions.find((name) => fields[name] !== undefined)
    if (alone === undefined) return { options }
    throw new ConfigError(`${alone}: there must be workers or upstreams too`)
  }
  if (fields.workers !== undefined && fields.upstreams !== undefined) {
    throw new ConfigError('workers and upstreams: there must be one of them, not both')
  }
  const which = fields.workers === undefined ? 'upstreams' : 'workers'
  const other = ofWorkloads.find((name) => fields[name] !== undefined)
  if (other !== undefined) {
    throw new ConfigError(
      `${other} = ${String(fields[other])}: a cluster has workloads or ${which}, not both`,
    )
  }
  return { options, own: Object.freeze(ownCluster(fields, folder)) }
}

function ownCluster(fields: Record<string, unknown>, folder: string): OwnCluster {
  const common = {
    routes: checkRoutes(fields.routes),
    maxBodyBytes: numberOf('maxBodyBytes', fields.maxBodyBytes, gibibyte, {
      min: 0,
      max: 1024 * gibibyte,
      whole: true,
    }),
  }
  if (fields.workers === undefined) {
    const concurrency = checkConcurrency('concurrency', fields.concurrency)
    if (fields.min !== undefined || fields.max !== undefined) {
      throw new ConfigError('min, max: upstreams are not scaled; leave them out')
    }
    const health = checkHealthPath('health', fields.health)
    return {
      ...common,
      upstreams: checkUpstreams(fields.upstreams),
      ...(health !== undefined && { health }),
      concurrency,
    }
  }
  for (const name of ['health', 'concurrency'] as const) {
    if (fields[name] !== undefined) throw wrong(name, fields[name], `given as workers.${name}`)
  }
  const workers = checkServer(fields.workers, folder)
  return { ...common, workers, concurrency: workers.concurrency }
}

function from(folder: string, name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (name === 'workloads') {
    return value
      .split(',')
      .map((path) => resolve(folder, path))
      .join(',')
  }
  return paths.includes(name) ? resolve(folder, value) : value
}
