/** Dynalite, an npm package that speaks DynamoDB's protocol: without transactions, expiry and PartiQL, but it starts at once. */

import { once } from 'node:events'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'

const make = createRequire(import.meta.url)('dynalite') as (times: object) => Server

/** It ends with the tests of the file. */
export async function startDynalite(): Promise<{ endpoint: string; stop(): void }> {
  const server = make({ createTableMs: 0, updateTableMs: 0, deleteTableMs: 0 })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}
