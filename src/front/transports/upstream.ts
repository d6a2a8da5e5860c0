/** The connections of a front to a worker, or to a function. */

import { Agent, type ClientRequestArgs } from 'node:http'
import { createRequire } from 'node:module'
import type { buildConnector, Pool } from 'undici'
import type { Address } from '../../wire/front-messages.ts'
import { type SharedSecret, secureSocket } from '../../wire/secure.ts'
import type { Upstream } from './transport.ts'

/** Owned by its creator, who must close it. */
export interface OwnedUpstream extends Upstream {
  /** Breaks off what is in progress. */
  close(): void
}

/** The trailers of a program may arrive as one header. */
const maxHeaderSize = 256 * 1024

const require = createRequire(import.meta.url)

/** Undici takes 14 MB. A brain whose fronts are in other processes never connects to workers. */
function newPool(origin: string, secret: SharedSecret | undefined): Pool {
  const undici = require('undici') as typeof import('undici')
  // A connection is silent while a long job runs, so undici's timeouts are off.
  const timeouts = { headersTimeout: 0, bodyTimeout: 0 }
  return new undici.Pool(origin, {
    ...timeouts,
    maxHeaderSize,
    ...(secret && { connect: secureConnector(secret) }),
  })
}

/** `token`: authorizes attempts there. Throws if the address is invalid. */
export function upstreamAt(id: string, address: Address, token: string): OwnedUpstream {
  const { host, port, tls } = address
  const secret = tls && { identity: 'front', token }
  const agent = secret ? new SecureAgent(secret) : new Agent({ keepAlive: true })
  const { origin } = new URL(`http://${host.includes(':') ? `[${host}]` : host}:${port}`)
  let pool: Pool | undefined
  return {
    ...{ id, address, agent },
    get dispatcher() {
      pool ??= newPool(origin, secret)
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
