import { after } from 'node:test'
import { startDynalite } from '../../test/support/dynalite.ts'
import { tablesContract } from './testing/tables-contract.ts'

const dynalite = await startDynalite()
after(() => dynalite.stop())

tablesContract('dynalite', () => dynalite.endpoint)
