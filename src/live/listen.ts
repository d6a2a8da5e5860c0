/** Opens ports, with errors that name the option. */

import type { AddressInfo, Server } from 'node:net'
import { ConfigError } from '../lib/errors.ts'

/** Rejects with a `ConfigError` if the port cannot be used. `reusePort`: other servers with this flag may share it. */
export function listen(
  server: Server,
  port: number,
  host: string,
  option: string,
  reusePort = false,
): Promise<void> {
  return new Promise((resolve, reject) => {
    // Stays for the life of the server: a connection that cannot be accepted must not end the process.
    server.on('error', (error) => reject(portProblem(error, port, option)))
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

type Protocol = 'http' | 'https' | 'tls'

export function urlOf(server: Server, host: string, protocol: Protocol = 'http'): string {
  return urlAt(host, (server.address() as AddressInfo).port, protocol)
}

export function urlAt(host: string, port: number, protocol: Protocol = 'http'): string {
  return `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`
}
