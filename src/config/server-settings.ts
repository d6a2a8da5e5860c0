/** What a worker knows of an existing server: the program to start, or its upstream. */

import { ConfigError } from '../lib/errors.ts'
import type { OwnCluster } from './check.ts'
import type { CheckedServer } from './check-server.ts'

export interface UpstreamSettings {
  /** Its origin. */
  upstream: string
  /** Undefined: an open connection is enough. */
  health?: string
  concurrency: number
  /** Time allowed to become reachable, and interval of health checks while idle. */
  startMs: number
  healthEveryMs: number
}

export type ServerSettings = CheckedServer | UpstreamSettings

/** `upstream` selects one of several: each has its own worker. */
export function serverSettings(
  { workers, upstreams = [], health, concurrency }: OwnCluster,
  upstream?: string,
): ServerSettings {
  if (workers) {
    if (upstream === undefined) return workers
    throw new ConfigError(`--upstream = ${upstream}: the configuration has workers, not upstreams`)
  }
  const chosen = upstream ?? (upstreams.length === 1 ? upstreams[0] : undefined)
  if (chosen === undefined || !upstreams.includes(chosen)) {
    throw new ConfigError(`--upstream = ${upstream ?? ''}: must be one of ${upstreams.join(', ')}`)
  }
  return {
    upstream: chosen,
    ...(health !== undefined && { health }),
    concurrency,
    startMs: 30_000,
    healthEveryMs: 5_000,
  }
}

/** Time limits of jobs, by the names of routes that have their own. */
export function routeLimits({ routes }: Pick<OwnCluster, 'routes'>): Record<string, number> {
  return Object.fromEntries(
    routes.flatMap(({ name, limitMs }) => (limitMs === undefined ? [] : [[name, limitMs]])),
  )
}

/** How work is measured without a `plimsoll-work` header. CPU time belongs to one request only if requests do not overlap. */
export function usualMeasure({
  workers,
  concurrency,
}: Pick<OwnCluster, 'workers' | 'concurrency'>): 'cpu' | 'time' {
  return workers && concurrency === 1 ? 'cpu' : 'time'
}
