/** Reads the rows and models that another cluster has learned, from a copy of its ledger. */

import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LedgerRow, maxQueryLimit } from '../../ledger/ledger.ts'
import type { Snapshot } from '../../ledger/snapshots.ts'
import { openSqliteLedger } from '../../ledger/sqlite.ts'

export interface LedgerContents {
  /** Of the asked workloads, with the names of workers marked as those of another cluster. */
  rows: LedgerRow[]
  snapshots: Snapshot[]
  /** Rows of other workloads or routes. */
  others: number
}

/** The file itself stays as it is: another cluster may be using it. */
export async function readLedger(file: string, workloads: readonly string[]): Promise<LedgerContents> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-learn-'))
  try {
    const copy = join(folder, 'other.db')
    // The newest rows may still be in the write-ahead log.
    for (const end of ['', '-wal']) if (existsSync(file + end)) copyFileSync(file + end, copy + end)
    return await contents(copy, workloads)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function contents(file: string, workloads: readonly string[]): Promise<LedgerContents> {
  const ledger = await openSqliteLedger({ file })
  try {
    const rows: LedgerRow[] = []
    const snapshots: Snapshot[] = []
    for (const workload of workloads) {
      const recent = await ledger.recent({ workload, limit: maxQueryLimit })
      // Workers here may have the same names and another speed.
      rows.push(...recent.toReversed().map((row) => ({ ...row, worker: `elsewhere/${row.worker}` })))
      snapshots.push(...(await ledger.snapshots(workload)))
    }
    const { rows: all } = await ledger.counts()
    return { rows, snapshots, others: Math.max(0, all - rows.length) }
  } finally {
    await ledger.close()
  }
}
