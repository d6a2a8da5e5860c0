/** The request that `up` suggests: one that succeeds as it stands, or else the list of what is served. */

import type { OwnCluster } from '../../config/check.ts'
import { partsOf } from '../../config/path-pattern.ts'

const list = '/-/workloads'
/** Time for finding one. */
const limitMs = 1000

/** Path and query of a workload's request. `ask` sends a GET request to the public port, and resolves with its status. */
export async function firstRequest(
  ask: (path: string, signal: AbortSignal) => Promise<number | undefined>,
  workloads: readonly string[],
): Promise<string> {
  if (workloads.includes('factorize')) return '/factorize?n=999985999949'
  const signal = AbortSignal.timeout(limitMs)
  try {
    for (const name of workloads) {
      // A quote checks parameters as a request does, and runs nothing.
      if ((await ask(`/-/estimate/${name}`, signal)) === 200) return `/${name}`
    }
  } catch {
    // Without an answer there is nothing better to suggest than the list.
  }
  return list
}

/** A path of an existing server. That of its health check succeeds, unless no route leads there. */
export function firstPath({ workers, health, routes }: OwnCluster): string {
  const path = workers?.health ?? health ?? '/'
  const parts = partsOf(path.replace(/\?.*/, ''))
  const hasRoute = routes.some(
    ({ pattern, methods }) => pattern.match(parts) && (methods?.includes('GET') ?? true),
  )
  return hasRoute ? path : list
}
