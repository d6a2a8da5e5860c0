/** The store of jobs on a real PostgreSQL server, and behind a pooler that gives each transaction another connection. */

import { after, test } from 'node:test'
import { openJobStore } from '../../src/store/open-store.ts'
import { durableStoreContract } from '../../src/store/testing/contract.ts'
import { startPooler } from '../support/pooler.ts'
import { startPostgres } from '../support/postgres.ts'

const server = await startPostgres()
const pooler = server && (await startPooler(server))
after(async () => {
  await pooler?.stop()
  await server?.stop()
})

if (!server) test('PostgreSQL is not installed', { skip: true }, () => {})
else
  durableStoreContract('postgres', async () => {
    const url = await server.createDatabase()
    return { open: () => openJobStore(url), location: url }
  })

if (!server || !pooler) test('PgBouncer is not installed', { skip: true }, () => {})
else
  durableStoreContract('postgres behind a pooler', async () => {
    const url = pooler.urlOf(await server.createDatabase())
    return { open: () => openJobStore(url), location: url }
  })
