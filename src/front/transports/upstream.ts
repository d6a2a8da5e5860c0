/** The way from a front to a worker, or to a function. */

import { Agent } from 'node:http'
import { Pool } from 'undici'
import type { Upstream } from './transport.ts'

/** One that is whoever made it's to cut. */
export type OwnUpstream = Upstream & { dispatcher: Pool }

export function upstreamAt(id: string, address: { host: string; port: number }): OwnUpstream {
  // Long jobs keep a connection silent for as long as they run: no time-outs but our own.
  const origin = `http://${address.host}:${address.port}`
  const dispatcher = new Pool(origin, { headersTimeout: 0, bodyTimeout: 0 })
  return { id, dispatcher, address, agent: new Agent({ keepAlive: true }) }
}

/** What is under way there breaks off. */
export function cutUpstream({ dispatcher, agent }: OwnUpstream): void {
  dispatcher.destroy().catch(() => {})
  agent.destroy()
}
