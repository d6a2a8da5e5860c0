/** The store of jobs in DynamoDB. `PLIMSOLL_DYNAMODB`: the server's URL. `dynamodb.ts` starts it and runs this file. */

import { randomUUID } from 'node:crypto'
import { openJobStore } from '../../../src/store/open-store.ts'
import { durableStoreContract } from '../../../src/store/testing/contract.ts'

const { PLIMSOLL_DYNAMODB: endpoint, PLIMSOLL_DYNAMODB_RESET: reset } = process.env

const make = async () => {
  // moto copies all of its tables for each transaction.
  if (reset) await fetch(reset, { method: 'POST' })
  const location = `dynamodb://test-${randomUUID()}?region=eu-central-1&endpoint=${endpoint}`
  return { open: () => openJobStore(location), location }
}

// To count the jobs that have ended, each sweep would have to read all of them, at a price.
durableStoreContract(`dynamodb at ${endpoint}`, make, { limitsEnded: false })
