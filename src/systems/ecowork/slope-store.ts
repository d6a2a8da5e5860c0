/**
 * EcoWork's tables, one for each workload. At an interval each stored table is read again, measurements are applied to it,
 * and it is stored if they changed it.
 */

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
  /**
   * Reads the tables, applies pending measurements and stores the tables that changed. Never rejects: measurements of a
   * table that cannot be read stay pending.
   */
  update(): Promise<void>
  /** Updates once more. */
  close(): Promise<void>
}

const mostKeys = 1000
/** Tables of each workload: those of the newest code. */
const mostTables = 3

type Store = Pick<Ledger, 'saveSnapshot' | 'snapshots' | 'flush'>

export function slopeStore(ledger: Store, everyMs: number, log: (line: string) => void): SlopeStore {
  const workloads = new Map<string, Map<string, SlopeTable>>()
  const timer = setInterval(() => update(), everyMs).unref()
  let updating = Promise.resolve()

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

  async function updateTables(workload: string): Promise<void> {
    // What was written here last may still be buffered.
    await ledger.flush()
    const stored = await ledger.snapshots(workload)
    for (const [codeHash, table] of workloads.get(workload) ?? []) {
      const found = stored.find((each) => each.name === slopesName && each.codeHash === codeHash)
      if (found) table.merge(JSON.parse(found.json))
      if (!table.settle()) continue
      const json = JSON.stringify(table.rows())
      ledger.saveSnapshot({ workload, codeHash, name: slopesName, at: Date.now(), json })
    }
  }

  async function updateAll(): Promise<void> {
    for (const workload of workloads.keys()) {
      try {
        await updateTables(workload)
      } catch (error) {
        log(`estimate: slopes of ${workload} not updated: ${(error as Error).message}`)
      }
    }
  }

  /** One at a time: an update must not write over another that has begun after it was read. */
  function update(): Promise<void> {
    updating = updating.then(updateAll)
    return updating
  }

  return {
    rule: (workload) => slopes({ tableOf: (codeHash) => tableOf(workload, codeHash), later: true }),
    restore({ workload, codeHash, json }) {
      tableOf(workload, codeHash).load(JSON.parse(json))
    },
    update,
    async close() {
      clearInterval(timer)
      await update()
    },
  }
}
