/** The store of jobs on a real PostgreSQL server. */

import { after, test } from 'node:test'
import { openJobStore } from '../../src/store/open-store.ts'
import { durableStoreContract } from '../../src/store/testing/contract.ts'
import { startPostgres } from '../support/postgres.ts'

const server = await startPostgres()
after(() => server?.stop())

if (!server) test('PostgreSQL is not installed', { skip: true }, () => {})
else
  durableStoreContract('postgres', async () => {
    const url = await server.createDatabase()
    return { open: () => openJobStore(url), location: url }
  })
