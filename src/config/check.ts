/** Checks a whole configuration file: each key by name, and that keys which exclude each other do not meet. */

import { resolve } from 'node:path'
import { checkFields } from '../lib/check-fields.ts'
import { checkNumber, invalid } from '../lib/checks.ts'
import { ConfigError } from '../lib/errors.ts'
import { type CheckedRoute, checkRoutes } from './check-routes.ts'
import {
  type CheckedServer,
  checkConcurrency,
  checkHealthPath,
  checkServer,
  checkUpstreams,
} from './check-server.ts'
import { clusterOptions, type UpConfig } from './cluster-options.ts'
import type { OptionSpec } from './option.ts'

/** An existing HTTP server in place of workloads. */
export interface OwnCluster {
  /** Programs that Plimsoll starts. Exactly one of `workers` and `upstreams` is set. */
  readonly workers?: CheckedServer
  /** Origins of servers that run already. */
  readonly upstreams?: readonly string[]
  /** Health path of the upstreams. */
  readonly health?: string
  /** Maximum number of concurrent requests per program. */
  readonly concurrency: number
  readonly routes: readonly CheckedRoute[]
  readonly maxBodyBytes: number
}

export interface CheckedConfig {
  /** Options of `up`, with absolute paths. Their values are checked together with the flags. */
  readonly options: UpConfig
  readonly own?: OwnCluster
}

const serverKeys = ['workers', 'upstreams', 'health', 'concurrency', 'routes', 'maxBodyBytes'] as const
/** All keys of a configuration. */
export const configKeys: readonly string[] = [...serverKeys, ...Object.keys(clusterOptions)]
const workloadKeys = ['workloads', 'meter', 'formula'] as const
const gibibyte = 1024 ** 3

/** Relative paths start at `folder`. */
export function checkConfig(given: unknown, folder: string): CheckedConfig {
  const fields = checkFields('the configuration', given, configKeys)
  const options = Object.fromEntries(
    Object.entries(clusterOptions)
      .filter(([key]) => fields[key] !== undefined)
      .map(([key, spec]) => [key, withAbsolutePaths(fields[key], spec, folder)]),
  )
  if (fields.workers === undefined && fields.upstreams === undefined) {
    const key = serverKeys.find((each) => fields[each] !== undefined)
    if (key === undefined) return { options }
    throw new ConfigError(`${key}: requires workers or upstreams`)
  }
  if (fields.workers !== undefined && fields.upstreams !== undefined)
    throw new ConfigError('workers, upstreams: only one of them may be given')
  const server = fields.workers === undefined ? 'upstreams' : 'workers'
  const key = workloadKeys.find((each) => fields[each] !== undefined)
  if (key !== undefined)
    throw new ConfigError(`${key} = ${String(fields[key])}: cannot be combined with ${server}`)
  return { options, own: Object.freeze(ownCluster(fields, folder)) }
}

function ownCluster(fields: Record<string, unknown>, folder: string): OwnCluster {
  const common = {
    routes: checkRoutes(fields.routes),
    maxBodyBytes: checkNumber('maxBodyBytes', fields.maxBodyBytes ?? gibibyte, {
      min: 0,
      max: 1024 * gibibyte,
      integer: true,
    }),
  }
  if (fields.workers === undefined) {
    if (fields.min !== undefined || fields.max !== undefined)
      throw new ConfigError('min, max: cannot be combined with upstreams, which are not scaled')
    const health = checkHealthPath('health', fields.health)
    return {
      ...common,
      upstreams: checkUpstreams(fields.upstreams),
      ...(health !== undefined && { health }),
      concurrency: checkConcurrency('concurrency', fields.concurrency),
    }
  }
  for (const name of ['health', 'concurrency'] as const) {
    if (fields[name] !== undefined) throw invalid(name, fields[name], `given as workers.${name}`)
  }
  const workers = checkServer(fields.workers, folder)
  return { ...common, workers, concurrency: workers.concurrency }
}

function withAbsolutePaths(value: unknown, spec: OptionSpec, folder: string): unknown {
  if (typeof value !== 'string' || spec.type !== 'text' || spec.path === undefined) return value
  const paths = spec.path === 'list' ? value.split(',') : [value]
  return paths.map((path) => resolve(folder, path)).join(',')
}
