/** The connections of a front to a worker, or to a function. */

import { Agent, type ClientRequestArgs } from 'node:http'
import { type buildConnector, Pool } from 'undici'
import type { Address } from '../../wire/front-messages.ts'
import { type SharedSecret, secureSocket } from '../../wire/secure.ts'
import type { Upstream } from './transport.ts'

/** Owned by its creator, who must close it. */
export type OwnedUpstream = Upstream & { dispatcher: Pool }

/** `token`: authorizes attempts there. */
export function upstreamAt(id: string, address: Address, token: string): OwnedUpstream {
  const { host, port, tls } = address
  const secret = tls && { identity: 'front', token }
  // A connection is silent while a long job runs, so undici's timeouts are off.
  const timeouts = { headersTimeout: 0, bodyTimeout: 0 }
  const origin = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  const dispatcher = new Pool(origin, { ...timeouts, ...(secret && { connect: secureConnector(secret) }) })
  const agent = secret ? new SecureAgent(secret) : new Agent({ keepAlive: true })
  return { id, dispatcher, address, agent }
}

/** Breaks off what is in progress. */
export function closeUpstream({ dispatcher, agent }: OwnedUpstream): void {
  dispatcher.destroy().catch(() => {})
  agent.destroy()
}

/** Connects undici over TLS. */
export function secureConnector(secret: SharedSecret): buildConnector.connector {
  return ({ hostname, port }, callback) => {
    const host = hostname.replace(/^\[(.*)\]$/, '$1')
    const socket = secureSocket({ host, port: Number(port) }, secret)
    const failed = (error: Error) => callback(error, null)
    socket.once('error', failed).once('secureConnect', () => {
      socket.off('error', failed)
      callback(null, socket)
    })
  }
}

class SecureAgent extends Agent {
  readonly #secret: SharedSecret

  constructor(secret: SharedSecret) {
    super({ keepAlive: true })
    this.#secret = secret
  }

  override createConnection({ host, port }: ClientRequestArgs) {
    return secureSocket({ host: host!, port: Number(port) }, this.#secret)
  }
}
