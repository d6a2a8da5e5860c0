/** Opens ports, with errors that name the option. */

import type { Server } from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'
import { ConfigError } from '../lib/errors.ts'

/** Rejects with a `ConfigError` if the port cannot be used. `reusePort`: other servers with this flag may share it. */
export function listen(
  server: NetServer,
  port: number,
  host: string,
  option: string,
  reusePort = false,
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(portProblem(error, port, option)))
    server.listen({ port, host, reusePort }, resolve)
  })
}

export function portProblem(
  { code }: NodeJS.ErrnoException | { code: string },
  port: number,
  option: string,
): ConfigError {
  const what = code === 'EADDRINUSE' ? 'is in use; choose another' : `cannot be used (${code})`
  return new ConfigError(`${option} = ${port}: ${what}`)
}

export function urlOf(server: Server, host: string): string {
  return urlAt(host, (server.address() as AddressInfo).port)
}

export function urlAt(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
