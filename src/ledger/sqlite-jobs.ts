/** The table of jobs, with traits and measures beside it: written inside the transaction of whoever calls, and read. */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type LedgerRow, type RecentQuery, usualWarm, type WarmQuery, type WarmRow } from './ledger.ts'
import { type Found, gather } from './query.ts'
import { aheadMs, fields, readRow } from './row.ts'
import { type Result, readResult, toWarmRows, warmFields } from './warm.ts'

export interface JobsTable {
  write(row: LedgerRow): void
  recent(query: RecentQuery, now: number): Found<LedgerRow>
  /** Of at most this many versions of the code. */
  warm(query: WarmQuery, versions: number, now: number): Found<WarmRow>
  /** Hashes of a workload's code, the newest first. */
  versions(workload: string, now: number): string[]
  workloads(): string[]
  count(): number
}

/** What stands beside the table, as what it is if it is not there. */
const beside: Readonly<Partial<Record<keyof LedgerRow, string>>> = {
  ...{ features: '', key: '', measure: 'meter', quantities: '' },
}
const own = fields.filter((field) => beside[field] === undefined)

export const jobsAndTraits = 'jobs LEFT JOIN traits ON traits.id = jobs.rowid AND traits.job = jobs.job'
export const jobsAndAll = `${jobsAndTraits} LEFT JOIN measures ON measures.id = jobs.rowid AND measures.job = jobs.job LEFT JOIN amounts ON amounts.id = jobs.rowid AND amounts.job = jobs.job`

/** Their rows have the row number of a job. */
export const besideTables = ['traits', 'measures', 'amounts'] as const

/** So many rows that cannot be read, or are not asked for, are looked at in vain. */
const patience = 10_000

export function jobsTable(db: DatabaseSync): JobsTable {
  const places = (names: readonly string[]) => names.map(() => '?').join(', ')
  const insert = db.prepare(`INSERT OR REPLACE INTO jobs (${own.join(', ')}) VALUES (${places(own)})`)
  const addTraits = db.prepare('INSERT OR REPLACE INTO traits (id, job, features, key) VALUES (?, ?, ?, ?)')
  const addMeasure = db.prepare('INSERT OR REPLACE INTO measures (id, job, measure) VALUES (?, ?, ?)')
  const addAmounts = db.prepare('INSERT OR REPLACE INTO amounts (id, job, quantities) VALUES (?, ?, ?)')
  const removals = besideTables.map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE id = (SELECT rowid FROM jobs WHERE job = ?)`),
  )
  const column = (name: keyof LedgerRow) =>
    beside[name] === undefined ? `jobs.${name}` : `ifnull(${name}, '${beside[name]}') AS ${name}`
  const newest = (columns: readonly (keyof LedgerRow)[], where: string) =>
    readable(
      db.prepare(
        `SELECT ${columns.map(column).join(', ')} FROM ${jobsAndAll} WHERE workload = :workload ${where}
           ORDER BY endedAt DESC, jobs.rowid DESC LIMIT :limit`,
      ),
    )
  const byWorkload = newest(fields, '')
  const byCode = newest(fields, 'AND codeHash = :codeHash')
  const warmByCode = newest(warmFields, 'AND codeHash = :codeHash AND endedAt <= :latest')
  // Each hop finds the next name by index: the time depends on the number of names, not of rows.
  const names = db.prepare(
    `WITH RECURSIVE hop (name) AS (SELECT min(workload) FROM jobs UNION ALL
       SELECT (SELECT min(workload) FROM jobs WHERE workload > name) FROM hop WHERE name NOTNULL LIMIT 10000)
     SELECT name FROM hop WHERE name NOTNULL`,
  )
  const codes = db.prepare(
    `WITH RECURSIVE hop (code) AS (SELECT min(codeHash) FROM jobs WHERE workload = :workload UNION ALL
       SELECT (SELECT min(codeHash) FROM jobs WHERE workload = :workload AND codeHash > code)
         FROM hop WHERE code NOTNULL LIMIT 10000)
     SELECT code FROM hop WHERE code NOTNULL ORDER BY (SELECT max(endedAt) FROM jobs
       WHERE workload = :workload AND codeHash = code AND endedAt <= :latest) DESC`,
  )
  const count = db.prepare('SELECT count(*) AS rows FROM jobs')

  function versions(workload: string, now: number): string[] {
    return codes.all({ workload, latest: now + aheadMs }).map(({ code }) => String(code))
  }

  return {
    write(row) {
      for (const removal of removals) removal.run(row.job)
      const { lastInsertRowid } = insert.run(...own.map((field) => row[field]))
      addTraits.run(lastInsertRowid, row.job, row.features, row.key)
      if (row.measure !== beside.measure) addMeasure.run(lastInsertRowid, row.job, row.measure)
      if (row.quantities !== '') addAmounts.run(lastInsertRowid, row.job, row.quantities)
    },

    recent({ workload, codeHash, limit }, now) {
      const bounds = { workload, limit: limit + patience }
      const raws =
        codeHash === undefined ? byWorkload.iterate(bounds) : byCode.iterate({ ...bounds, codeHash })
      return gather(raws, limit, (raw) => readRow(raw, now))
    },

    warm({ workload, limit = usualWarm }, most, now) {
      const found: Found<Result> = { rows: [], skipped: 0, why: '' }
      for (const codeHash of versions(workload, now).slice(0, most)) {
        const wanted = limit - found.rows.length
        const bounds = { workload, codeHash, latest: now + aheadMs, limit: wanted + patience }
        const more = gather(warmByCode.iterate(bounds), wanted, (raw) => readResult(raw, now))
        found.rows = found.rows.concat(more.rows)
        found.skipped += more.skipped
        found.why ||= more.why
      }
      return { ...found, rows: toWarmRows(found.rows) }
    },

    versions,
    workloads: () => names.all().map(({ name }) => String(name)),
    count: () => Number(count.get()!.rows),
  }
}

/** Whole numbers, of which the layout has none, are read as bigints: one that is too large would fail the question. */
export function readable(statement: StatementSync): StatementSync {
  statement.setReadBigInts(true)
  return statement
}
