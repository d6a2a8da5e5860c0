/** Is a program well? Asks once, and says in words what is wrong. */
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import type { Address } from './address.ts'
import { isRefused, seconds } from './words.ts'

/** An answer that comes later counts as none. */
export const patienceMs = 5_000

export interface Sickness {
  /** For instance "GET /health answered 503". */
  why: string
  /** Nothing listens there. */
  silent: boolean
}

/** Undefined: it is well. Without a path it is enough that a connection can be opened. */
export function checkHealth(
  address: Address,
  path: string | undefined,
  limitMs: number,
): Promise<Sickness | undefined> {
  return new Promise((resolve) => {
    const asks = path === undefined ? '' : `GET ${path}`
    const probe = path === undefined ? openConnection(address) : ask(address, path)
    const over = (sickness?: Sickness) => {
      clearTimeout(timer)
      probe.destroy()
      resolve(sickness)
    }
    const timer = setTimeout(() => {
      const why = asks ? `${asks} had no answer` : `${address.where} took no connection`
      over({ why: `${why} within ${seconds(limitMs)}`, silent: false })
    }, limitMs)
    probe.on('error', (error: NodeJS.ErrnoException) => {
      if (isRefused(error)) over({ why: `nothing listens on ${address.where}`, silent: true })
      else
        over({ why: `${asks || `a connection to ${address.where}`} failed: ${error.message}`, silent: false })
    })
    probe.on('connect', () => {
      if (path === undefined) over()
    })
    probe.on('response', ({ statusCode = 0 }: { statusCode?: number }) => {
      const well = statusCode >= 200 && statusCode < 400
      over(well ? undefined : { why: `${asks} answered ${statusCode}`, silent: false })
    })
  })
}

function openConnection({ connect: to }: Address) {
  return connect('port' in to ? to : { path: to.socketPath })
}

function ask({ connect, tls, authority }: Address, path: string) {
  const headers = { host: authority, connection: 'close', 'user-agent': 'plimsoll' }
  return (tls ? httpsRequest : httpRequest)({ ...connect, path, headers, agent: false }).end()
}
