/** The connections of a front to a worker, or to a function. */

import { Agent } from 'node:http'
import { Pool } from 'undici'
import type { Upstream } from './transport.ts'

/** Owned by its creator, who must close it. */
export type OwnedUpstream = Upstream & { dispatcher: Pool }

export function upstreamAt(id: string, address: { host: string; port: number }): OwnedUpstream {
  // A connection is silent while a long job runs, so undici's timeouts are off.
  const origin = `http://${address.host}:${address.port}`
  const dispatcher = new Pool(origin, { headersTimeout: 0, bodyTimeout: 0 })
  return { id, dispatcher, address, agent: new Agent({ keepAlive: true }) }
}

/** Breaks off what is in progress. */
export function closeUpstream({ dispatcher, agent }: OwnedUpstream): void {
  dispatcher.destroy().catch(() => {})
  agent.destroy()
}
