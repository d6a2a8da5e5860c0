/** HillClimbing's tables in DynamoDB: HcRequest, and HcInstance with the outstanding work of each instance. */
import { metricsTable } from '../metrics-table.ts'
import type { SystemTables, TableParts } from '../system-tables.ts'
import { instanceTable } from './instance-table.ts'
import { hcRequestOf } from './rows.ts'

const nothing = {
  workload: '',
  codeHash: '',
  work: 0,
  tally: '{}',
  running: false,
  worker: '',
  attempt: '',
  at: 0,
}

export async function hillclimbingTables(parts: TableParts): Promise<SystemTables> {
  return {
    ledger: await metricsTable(parts, {
      ...{ table: 'HcRequest', id: 'requestId' },
      idOf: ({ parameters }) => idOf(parameters),
      columns: (row) => ({ ...hcRequestOf(row), metrics: row.tally }),
    }),
    instances: await instanceTable(parts),
  }
}

/** Long parameters are stored as a digest, which is no JSON. */
function idOf(parameters: string): string {
  try {
    return hcRequestOf({ ...nothing, parameters }).requestId
  } catch {
    return parameters
  }
}
