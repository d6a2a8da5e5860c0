/** Servers on ports, with errors that name the option. */

import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ConfigError } from './errors.ts'

/** Rejects with what to do if the port cannot be had. */
export function listen(server: Server, port: number, host: string, option: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const what =
        error.code === 'EADDRINUSE' ? 'is in use; choose another' : `cannot be used (${error.code})`
      reject(new ConfigError(`${option} = ${port}: ${what}`))
    })
    server.listen(port, host, resolve)
  })
}

export function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
