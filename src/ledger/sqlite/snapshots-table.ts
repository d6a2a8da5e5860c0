/** Writes and reads the snapshots table, and deletes snapshots beyond the limits. The caller opens the transaction. */
import type { DatabaseSync } from 'node:sqlite'
import { type Collected, collect } from '../collect.ts'
import { maxClockAheadMs } from '../row.ts'
import { keptSnapshots, readSnapshot, type Snapshot, snapshotFields } from '../snapshots.ts'
import { readBigInts } from './jobs-table.ts'

export interface SnapshotsTable {
  write(snapshot: Snapshot, now: number): void
  read(workload: string, now: number): Collected<Snapshot>
}

export function snapshotsTable(db: DatabaseSync): SnapshotsTable {
  const placeholders = snapshotFields.map((field) => `:${field}`).join(', ')
  const insert = db.prepare(
    `INSERT OR REPLACE INTO snapshots (${snapshotFields.join(', ')}) VALUES (${placeholders})`,
  )
  const heads = db.prepare('SELECT rowid AS id, codeHash, at FROM snapshots WHERE workload = ?')
  const byId = readBigInts(db.prepare(`SELECT ${snapshotFields.join(', ')} FROM snapshots WHERE rowid = ?`))
  const remove = db.prepare('DELETE FROM snapshots WHERE rowid = ?')

  const headsOf = (workload: string) =>
    heads.all(workload) as unknown as (Pick<Snapshot, 'codeHash' | 'at'> & { id: number })[]

  return {
    write(snapshot, now) {
      insert.run({ ...snapshot })
      const all = headsOf(snapshot.workload)
      const kept = new Set(keptSnapshots(all, now + maxClockAheadMs))
      for (const each of all) if (!kept.has(each)) remove.run(each.id)
    },
    read(workload, now) {
      const kept = keptSnapshots(headsOf(workload), now + maxClockAheadMs)
      return collect(
        kept.map(({ id }) => byId.get(id)),
        kept.length,
        readSnapshot,
      )
    },
  }
}
