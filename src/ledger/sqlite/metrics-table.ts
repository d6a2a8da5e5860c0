/** Writes and reads the metrics table by the rule of metrics.ts. The caller opens the transaction. */
import type { DatabaseSync } from 'node:sqlite'
import type { RecentQuery } from '../ledger.ts'
import {
  type Kept,
  type MetricsEntry,
  type MetricsKey,
  type MetricsRow,
  mayWrite,
  metricsFields,
} from '../metrics.ts'

export interface MetricsTable {
  write(entry: MetricsEntry): void
  read(key: MetricsKey): MetricsRow | undefined
  /** Written last first. */
  recent(query: Pick<RecentQuery, 'workload' | 'limit'>): MetricsRow[]
}

export function metricsTable(db: DatabaseSync): MetricsTable {
  const columns = metricsFields.join(', ')
  const placeholders = metricsFields.map((field) => `:${field}`).join(', ')
  const byKey = 'workload = :workload AND codeHash = :codeHash AND parameters = :parameters'
  const select = db.prepare(`SELECT ${columns} FROM metrics WHERE ${byKey}`)
  // Without an index by time: only operators ask, and writes would have to keep it.
  const newest = db.prepare(
    `SELECT ${columns} FROM metrics WHERE workload = :workload ORDER BY at DESC, rowid DESC LIMIT :limit`,
  )
  // An update keeps the row number, and with it the order of creation, in which pruning deletes rows.
  const updates = metricsFields.map((field) => `${field} = excluded.${field}`).join(', ')
  const insert = db.prepare(
    `INSERT INTO metrics (${columns}) VALUES (${placeholders}) ON CONFLICT DO UPDATE SET ${updates}`,
  )
  const release = db.prepare(
    `UPDATE metrics SET worker = '', attempt = '' WHERE running = 1
       AND (:worker IS NULL OR worker = :worker) AND (:attempt IS NULL OR attempt = :attempt)`,
  )

  function read({ workload, codeHash, parameters }: MetricsKey): MetricsRow | undefined {
    const row = select.get({ workload, codeHash, parameters })
    return row && rowOf(row)
  }

  return {
    read,
    recent: ({ workload, limit }) => newest.all({ workload, limit }).map(rowOf),
    write(entry) {
      if ('release' in entry) {
        const { worker = null, attempt = null } = entry.release
        release.run({ worker, attempt })
        return
      }
      const { running, ...fields } = entry.row
      const kept: Kept | undefined = read(entry.row)
      if (mayWrite(kept, entry.row)) insert.run({ ...fields, running: running ? 1 : 0 })
    },
  }
}

function rowOf(row: Record<string, unknown>): MetricsRow {
  return { ...row, running: row.running === 1 } as unknown as MetricsRow
}
