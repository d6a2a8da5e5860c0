/** The tables of the published systems. `PLIMSOLL_DYNAMODB`: the server's URL. `dynamodb.ts` starts it and runs this file. */

import { tablesContract } from '../../../src/systems/testing/tables-contract.ts'

const endpoint = process.env.PLIMSOLL_DYNAMODB ?? ''

tablesContract(`dynamodb at ${endpoint}`, () => endpoint)
