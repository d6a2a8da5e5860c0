/** A single health check of a program or upstream. */
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import type { Address } from './address.ts'
import { duration, isConnectionRefused } from './error-messages.ts'

/** Timeout of a health check. */
export const healthTimeoutMs = 5_000

export interface HealthProblem {
  /** For instance "GET /health answered 503". */
  message: string
  /** Whether the connection was refused. */
  refused: boolean
}

/** Undefined if healthy. Without a path, a program is healthy if it accepts a connection. */
export function checkHealth(
  address: Address,
  path: string | undefined,
  limitMs: number,
): Promise<HealthProblem | undefined> {
  return new Promise((resolve) => {
    const request = path === undefined ? '' : `GET ${path}`
    const probe = path === undefined ? openConnection(address) : get(address, path)
    const finish = (message?: string, refused = false) => {
      clearTimeout(timer)
      probe.destroy()
      resolve(message === undefined ? undefined : { message, refused })
    }
    const timer = setTimeout(() => {
      const message = request ? `${request} had no answer` : `${address.where} accepted no connection`
      finish(`${message} within ${duration(limitMs)}`)
    }, limitMs)
    probe.on('error', (error: NodeJS.ErrnoException) => {
      if (isConnectionRefused(error)) finish(`nothing listens on ${address.where}`, true)
      else finish(`${request || `a connection to ${address.where}`} failed: ${error.message}`)
    })
    probe.on('connect', () => {
      if (path === undefined) finish()
    })
    probe.on('response', ({ statusCode = 0 }: { statusCode?: number }) => {
      const healthy = statusCode >= 200 && statusCode < 400
      finish(healthy ? undefined : `${request} answered ${statusCode}`)
    })
  })
}

function openConnection({ connect: to }: Address) {
  return connect('port' in to ? to : { path: to.socketPath })
}

function get({ connect, tls, authority }: Address, path: string) {
  const headers = { host: authority, connection: 'close', 'user-agent': 'plimsoll' }
  return (tls ? httpsRequest : httpRequest)({ ...connect, path, headers, agent: false }).end()
}
