/** CloudPrime's table in DynamoDB: an item for each number and version of the code. */
import { metricsTable } from '../metrics-table.ts'
import type { SystemTables, TableParts } from '../system-tables.ts'
import { cloudPrimeRow, numberIn } from './rows.ts'

export async function cloudprimeTable(parts: TableParts): Promise<SystemTables> {
  return {
    ledger: await metricsTable(parts, {
      ...{ table: 'cloudprime', id: 'parameter' },
      idOf: ({ parameters }) => numberIn(parameters),
      columns: (row) => ({ ...cloudPrimeRow(row) }),
    }),
  }
}
