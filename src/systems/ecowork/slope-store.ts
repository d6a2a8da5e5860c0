/** EcoWork's tables, one for each workload. At an interval measurements are applied and changed tables stored. */

import type { Rule } from '../../estimate/estimator.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Snapshot } from '../../ledger/snapshots.ts'
import { SlopeTable } from './slope-table.ts'
import { slopes } from './slopes.ts'

/** The name of a table among the ledger's snapshots; its rows are `SlopeRow`s. */
export const slopesName = 'slopes'

export interface SlopeStore {
  rule(workload: string): Rule
  /** Loads a stored table. */
  restore(snapshot: Snapshot): void
  /** Applies pending measurements and stores the tables that changed. */
  write(): void
  close(): void
}

const mostKeys = 1000
/** Tables of each workload: those of the newest code. */
const mostTables = 3

export function slopeStore(ledger: Pick<Ledger, 'saveSnapshot'>, everyMs: number): SlopeStore {
  const workloads = new Map<string, Map<string, SlopeTable>>()
  const timer = setInterval(() => write(), everyMs).unref()

  function tableOf(workload: string, codeHash: string): SlopeTable {
    const tables = workloads.get(workload) ?? new Map<string, SlopeTable>()
    workloads.set(workload, tables)
    let table = tables.get(codeHash)
    if (!table) {
      table = new SlopeTable(mostKeys)
      tables.set(codeHash, table)
      if (tables.size > mostTables) tables.delete(tables.keys().next().value!)
    }
    return table
  }

  function write(): void {
    for (const [workload, tables] of workloads) {
      for (const [codeHash, table] of tables) {
        if (!table.settle()) continue
        const json = JSON.stringify(table.rows())
        ledger.saveSnapshot({ workload, codeHash, name: slopesName, at: Date.now(), json })
      }
    }
  }

  return {
    rule: (workload) => slopes({ tableOf: (codeHash) => tableOf(workload, codeHash), later: true }),
    restore({ workload, codeHash, json }) {
      tableOf(workload, codeHash).load(JSON.parse(json))
    },
    write,
    close() {
      clearInterval(timer)
      write()
    },
  }
}
