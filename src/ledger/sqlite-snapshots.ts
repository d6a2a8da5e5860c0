/** The table of snapshots: written inside the transaction of whoever calls, and kept to the newest. */
import type { DatabaseSync } from 'node:sqlite'
import { type Found, gather } from './query.ts'
import { aheadMs } from './row.ts'
import { keptSnapshots, readSnapshot, type Snapshot, snapshotFields } from './snapshots.ts'
import { readable } from './sqlite-jobs.ts'

export interface SnapshotsTable {
  write(snapshot: Snapshot, now: number): void
  read(workload: string, now: number): Found<Snapshot>
}

export function snapshotsTable(db: DatabaseSync): SnapshotsTable {
  const places = snapshotFields.map((field) => `:${field}`).join(', ')
  const insert = db.prepare(
    `INSERT OR REPLACE INTO snapshots (${snapshotFields.join(', ')}) VALUES (${places})`,
  )
  const heads = db.prepare('SELECT rowid AS id, codeHash, at FROM snapshots WHERE workload = ?')
  const byId = readable(db.prepare(`SELECT ${snapshotFields.join(', ')} FROM snapshots WHERE rowid = ?`))
  const remove = db.prepare('DELETE FROM snapshots WHERE rowid = ?')

  const headsOf = (workload: string) =>
    heads.all(workload) as unknown as (Pick<Snapshot, 'codeHash' | 'at'> & { id: number })[]

  return {
    write(snapshot, now) {
      insert.run({ ...snapshot })
      const all = headsOf(snapshot.workload)
      const kept = new Set(keptSnapshots(all, now + aheadMs))
      for (const each of all) if (!kept.has(each)) remove.run(each.id)
    },
    read(workload, now) {
      const kept = keptSnapshots(headsOf(workload), now + aheadMs)
      return gather(
        kept.map(({ id }) => byId.get(id)),
        kept.length,
        readSnapshot,
      )
    },
  }
}
