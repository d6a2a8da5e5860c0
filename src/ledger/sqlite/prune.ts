/** Deletes rows of the ledger's file by the rules of retention.ts, in small steps, so that reads and writes never wait long. */
import type { DatabaseSync } from 'node:sqlite'
import type { LedgerRow } from '../ledger.ts'
import { capacityOf, type RetentionLimits, RowFilter } from '../retention.ts'
import { isLearnable } from '../row.ts'
import { type JobsTable, jobsWithTraits, readBigInts, sideTables } from './jobs-table.ts'

/** A step takes a few milliseconds, including the commit. */
const stepRows = 100

/** Scans the rows of one version of a workload's code, newest first. */
interface Scan {
  workload: string
  codeHash: string
  filter: RowFilter<Position>
  /** The last row scanned. */
  after: Position
}

/** Identifies a row in the order of the scan. */
interface Position {
  id: number | bigint
  endedAt: number
}

type ScannedRow = Position & Pick<LedgerRow, 'key' | 'work' | 'outcome'>

const start: Position = { id: 2n ** 63n - 1n, endedAt: Infinity }

export class Pruner {
  readonly #jobs: JobsTable
  readonly #transaction: (write: () => void) => void
  readonly #limits: RetentionLimits
  readonly #statements: ReturnType<typeof prepare>
  /** Workloads to scan. All of them at first: an older Plimsoll that never pruned may have written the file. */
  readonly #due: Set<string>
  /** Rows written since the last scan, by workload. */
  readonly #written = new Map<string, number>()
  #metricsWritten: number
  /** The remaining scans of one workload, one per version of its code, the newest version first. */
  #scans: Scan[] = []

  constructor(
    db: DatabaseSync,
    options: {
      jobs: JobsTable
      transaction: (write: () => void) => void
      limits: RetentionLimits
    },
  ) {
    this.#jobs = options.jobs
    this.#transaction = options.transaction
    this.#limits = options.limits
    this.#statements = prepare(db)
    this.#due = new Set(this.#jobs.workloads())
    this.#metricsWritten = this.#limits.slack
  }

  rowsWritten(rows: LedgerRow[]): void {
    for (const { workload } of rows) {
      const count = (this.#written.get(workload) ?? 0) + 1
      this.#written.set(workload, count)
      if (count >= this.#limits.slack) this.#due.add(workload)
    }
  }

  metricsWritten(entries: number): void {
    this.#metricsWritten += entries
  }

  /** Scans a few rows. Returns false when there is nothing to do until more rows are written. */
  step(now: number): boolean {
    if (this.#scans.length === 0) this.#startScans(now)
    const [scan] = this.#scans
    if (scan) this.#continue(scan, now)
    else if (this.#metricsWritten >= this.#limits.slack) this.#pruneMetrics()
    return this.#scans.length > 0 || this.#due.size > 0 || this.#metricsWritten >= this.#limits.slack
  }

  #startScans(now: number): void {
    const [workload] = this.#due
    if (workload === undefined) return
    this.#due.delete(workload)
    this.#written.delete(workload)
    this.#scans = this.#jobs.versions(workload, now).map((codeHash, version) => {
      const filter = new RowFilter<Position>(capacityOf(version, this.#limits), this.#limits)
      return { workload, codeHash, filter, after: start }
    })
  }

  #continue(scan: Scan, now: number): void {
    const rows = this.#nextRows(scan)
    const surplus = rows.flatMap(({ id, endedAt, key, work, outcome }) => {
      const learnable = isLearnable({ outcome, work, endedAt }, now)
      return scan.filter.offer({ id: { id, endedAt }, key, work, learnable })
    })
    if (surplus.length > 0) {
      this.#transaction(() => {
        for (const { id, endedAt } of surplus) {
          for (const removal of this.#statements.removals) removal.run({ id, endedAt })
        }
      })
    }
    const last = rows.at(-1)
    if (last && rows.length >= stepRows) scan.after = { id: last.id, endedAt: last.endedAt }
    else this.#scans.shift()
  }

  #nextRows({ workload, codeHash, after: { id, endedAt } }: Scan): ScannedRow[] {
    const { sameTime, earlier } = this.#statements
    const same = sameTime.all({ workload, codeHash, endedAt, id }) as unknown as ScannedRow[]
    const more = same.length < stepRows ? earlier.all({ workload, codeHash, endedAt }) : []
    return same.concat(more as unknown as ScannedRow[])
  }

  #pruneMetrics(): void {
    const surplus = Number(this.#statements.countMetrics.get()!.rows) - this.#limits.metrics
    if (surplus > 0) {
      this.#transaction(() => this.#statements.removeMetrics.run(Math.min(surplus, stepRows)))
    }
    if (surplus <= stepRows) this.#metricsWritten = 0
  }
}

function prepare(db: DatabaseSync) {
  const rowsWhere = (where: string) =>
    readBigInts(
      db.prepare(
        `SELECT jobs.rowid AS id, ifnull(key, '') AS key, work, outcome, endedAt FROM ${jobsWithTraits}
           WHERE workload = :workload AND codeHash = :codeHash AND ${where}
           ORDER BY endedAt DESC, jobs.rowid DESC LIMIT ${stepRows}`,
      ),
    )
  const removals = [
    ...sideTables.map(
      (table) =>
        `DELETE FROM ${table} WHERE id = (SELECT rowid FROM jobs WHERE rowid = :id AND endedAt = :endedAt)`,
    ),
    'DELETE FROM jobs WHERE rowid = :id AND endedAt = :endedAt',
  ]
  return {
    // Two queries instead of one with OR, which would scan all rows of the same time again.
    sameTime: rowsWhere('endedAt = :endedAt AND jobs.rowid < :id'),
    earlier: rowsWhere('endedAt < :endedAt'),
    // They also compare the time, because SQLite reuses a row number after the last row is deleted.
    removals: removals.map((sql) => db.prepare(sql)),
    countMetrics: db.prepare('SELECT count(*) AS rows FROM metrics'),
    removeMetrics: db.prepare(
      'DELETE FROM metrics WHERE rowid IN (SELECT rowid FROM metrics ORDER BY rowid LIMIT ?)',
    ),
  }
}
