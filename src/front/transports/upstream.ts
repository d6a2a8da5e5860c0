/** The connections of a front to a worker, or to a function. */

import { Agent } from 'node:http'
import { createRequire } from 'node:module'
import type { Pool } from 'undici'
import type { Upstream } from './transport.ts'

/** Owned by its creator, who must close it. */
export interface OwnedUpstream extends Upstream {
  /** Breaks off what is in progress. */
  close(): void
}

const require = createRequire(import.meta.url)

/** Undici takes 14 MB. A brain whose fronts are in other processes never connects to workers. */
function newPool(origin: string): Pool {
  const undici = require('undici') as typeof import('undici')
  // A connection is silent while a long job runs, so undici's timeouts are off.
  return new undici.Pool(origin, { headersTimeout: 0, bodyTimeout: 0 })
}

export function upstreamAt(id: string, address: { host: string; port: number }): OwnedUpstream {
  const agent = new Agent({ keepAlive: true })
  let pool: Pool | undefined
  return {
    ...{ id, address, agent },
    get dispatcher() {
      pool ??= newPool(`http://${address.host}:${address.port}`)
      return pool
    },
    close() {
      pool?.destroy().catch(() => {})
      agent.destroy()
    },
  }
}

/** Breaks off what is in progress. */
export function closeUpstream(upstream: OwnedUpstream): void {
  upstream.close()
}
