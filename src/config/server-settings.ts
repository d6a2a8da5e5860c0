/** What one worker must know of an own server: the program that it starts, or the one upstream that it stands for. */

import { ConfigError } from '../lib/errors.ts'
import type { OwnCluster } from './check.ts'
import type { CheckedServer } from './check-server.ts'

export interface UpstreamSettings {
  /** Its origin. */
  upstream: string
  /** Undefined: a connection suffices. */
  health?: string
  concurrency: number
  /** It must be reachable so soon, and is looked at so often while it has nothing to do. */
  startMs: number
  healthEveryMs: number
}

export type ServerSettings = CheckedServer | UpstreamSettings

/** `upstream` says which of several: each has a worker of its own. */
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

/** How work is measured where the program does not name it: CPU time is one request's own only if it is alone. */
export function usualMeasure({
  workers,
  concurrency,
}: Pick<OwnCluster, 'workers' | 'concurrency'>): 'cpu' | 'time' {
  return workers && concurrency === 1 ? 'cpu' : 'time'
}
