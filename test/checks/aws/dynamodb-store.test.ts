/** The store of jobs in DynamoDB. `PLIMSOLL_DYNAMODB`: the server's URL. `dynamodb.ts` starts it and runs this file. */

import { randomUUID } from 'node:crypto'
import { openJobStore } from '../../../src/store/open-store.ts'
import { durableStoreContract } from '../../../src/store/testing/contract.ts'

const endpoint = process.env.PLIMSOLL_DYNAMODB

durableStoreContract(`dynamodb at ${endpoint}`, async () => {
  const location = `dynamodb://test-${randomUUID()}?region=eu-central-1&endpoint=${endpoint}`
  return { open: () => openJobStore(location), location }
})
