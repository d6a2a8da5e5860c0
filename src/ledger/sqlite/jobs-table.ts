/** Writes and reads the jobs table and its side tables. The caller opens the transaction. */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type Collected, collect } from '../collect.ts'
import {
  defaultWarmLimit,
  type LedgerRow,
  type RecentQuery,
  type WarmQuery,
  type WarmRow,
} from '../ledger.ts'
import { fields, maxClockAheadMs, readRow } from '../row.ts'
import { type Result, readResult, toWarmRows, warmFields } from '../warm.ts'

export interface JobsTable {
  write(row: LedgerRow): void
  recent(query: RecentQuery, now: number): Collected<LedgerRow>
  /** Reads at most `versions` versions of the code. */
  warm(query: WarmQuery, versions: number, now: number): Collected<WarmRow>
  /** Hashes of a workload's code, the newest first. */
  versions(workload: string, now: number): string[]
  workloads(): string[]
  count(): number
}

/** Fields in side tables, and their values when the side table has no row. */
const sideDefaults: Readonly<Partial<Record<keyof LedgerRow, string>>> = {
  ...{ features: '', key: '', measure: 'meter', quantities: '' },
}
const mainFields = fields.filter((field) => sideDefaults[field] === undefined)

export const jobsWithTraits = 'jobs LEFT JOIN traits ON traits.id = jobs.rowid AND traits.job = jobs.job'
export const jobsWithSideTables = `${jobsWithTraits} LEFT JOIN measures ON measures.id = jobs.rowid AND measures.job = jobs.job LEFT JOIN amounts ON amounts.id = jobs.rowid AND amounts.job = jobs.job`

/** A row of a side table has the row number of its job. */
export const sideTables = ['traits', 'measures', 'amounts'] as const

/** How many rows a query reads beyond its limit, to make up for rows that are invalid or not results. */
const extraRows = 10_000

export function jobsTable(db: DatabaseSync): JobsTable {
  const write = rowWriter(db)
  const selecting = (where: string) => ({
    all: newestRows(db, fields, where),
    ofKey: newestRows(db, fields, `${where} AND traits.key = :key`),
  })
  const byWorkload = selecting('')
  const byCode = selecting('AND codeHash = :codeHash')
  const warmByCode = newestRows(db, warmFields, 'AND codeHash = :codeHash AND endedAt <= :latest')
  const { names, codes } = prepareHops(db)
  const count = db.prepare('SELECT count(*) AS rows FROM jobs')

  function versions(workload: string, now: number): string[] {
    return codes.all({ workload, latest: now + maxClockAheadMs }).map(({ code }) => String(code))
  }

  return {
    write,

    recent({ workload, codeHash, key, limit }, now) {
      const bounds = { workload, limit: limit + extraRows }
      const code = codeHash !== undefined && { codeHash }
      const { all, ofKey } = code ? byCode : byWorkload
      const given = { ...bounds, ...code }
      const raws = key === undefined ? all.iterate(given) : ofKey.iterate({ ...given, key })
      return collect(raws, limit, (raw) => readRow(raw, now))
    },

    warm({ workload, limit = defaultWarmLimit }, maxVersions, now) {
      const results: Collected<Result> = { rows: [], skipped: 0, problem: '' }
      for (const codeHash of versions(workload, now).slice(0, maxVersions)) {
        const wanted = limit - results.rows.length
        const bounds = { workload, codeHash, latest: now + maxClockAheadMs, limit: wanted + extraRows }
        const more = collect(warmByCode.iterate(bounds), wanted, (raw) => readResult(raw, now))
        results.rows = results.rows.concat(more.rows)
        results.skipped += more.skipped
        results.problem ||= more.problem
      }
      return { ...results, rows: toWarmRows(results.rows) }
    },

    versions,
    workloads: () => names.all().map(({ name }) => String(name)),
    count: () => Number(count.get()!.rows),
  }
}

function rowWriter(db: DatabaseSync): (row: LedgerRow) => void {
  const placeholders = mainFields.map(() => '?').join(', ')
  const insert = db.prepare(`INSERT OR REPLACE INTO jobs (${mainFields.join(', ')}) VALUES (${placeholders})`)
  const addTraits = db.prepare('INSERT OR REPLACE INTO traits (id, job, features, key) VALUES (?, ?, ?, ?)')
  const addMeasure = db.prepare('INSERT OR REPLACE INTO measures (id, job, measure) VALUES (?, ?, ?)')
  const addAmounts = db.prepare('INSERT OR REPLACE INTO amounts (id, job, quantities) VALUES (?, ?, ?)')
  const removals = sideTables.map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE id = (SELECT rowid FROM jobs WHERE job = ?)`),
  )
  return (row) => {
    for (const removal of removals) removal.run(row.job)
    const { lastInsertRowid } = insert.run(...mainFields.map((field) => row[field]))
    addTraits.run(lastInsertRowid, row.job, row.features, row.key)
    if (row.measure !== sideDefaults.measure) addMeasure.run(lastInsertRowid, row.job, row.measure)
    if (row.quantities !== '') addAmounts.run(lastInsertRowid, row.job, row.quantities)
  }
}

function newestRows(db: DatabaseSync, columns: readonly (keyof LedgerRow)[], where: string): StatementSync {
  const column = (name: keyof LedgerRow) =>
    sideDefaults[name] === undefined ? `jobs.${name}` : `ifnull(${name}, '${sideDefaults[name]}') AS ${name}`
  return readBigInts(
    db.prepare(
      `SELECT ${columns.map(column).join(', ')} FROM ${jobsWithSideTables} WHERE workload = :workload ${where}
         ORDER BY endedAt DESC, jobs.rowid DESC LIMIT :limit`,
    ),
  )
}

/** Each hop finds the next distinct value by index: the time depends on the number of values, not of rows. */
function prepareHops(db: DatabaseSync) {
  return {
    names: db.prepare(
      `WITH RECURSIVE hop (name) AS (SELECT min(workload) FROM jobs UNION ALL
         SELECT (SELECT min(workload) FROM jobs WHERE workload > name) FROM hop WHERE name NOTNULL LIMIT 10000)
       SELECT name FROM hop WHERE name NOTNULL`,
    ),
    codes: db.prepare(
      `WITH RECURSIVE hop (code) AS (SELECT min(codeHash) FROM jobs WHERE workload = :workload UNION ALL
         SELECT (SELECT min(codeHash) FROM jobs WHERE workload = :workload AND codeHash > code)
           FROM hop WHERE code NOTNULL LIMIT 10000)
       SELECT code FROM hop WHERE code NOTNULL ORDER BY (SELECT max(endedAt) FROM jobs
         WHERE workload = :workload AND codeHash = code AND endedAt <= :latest) DESC`,
    ),
  }
}

/** Reads integers as bigints: by default a query fails when it meets an integer above 2^53. The schema has none. */
export function readBigInts(statement: StatementSync): StatementSync {
  statement.setReadBigInts(true)
  return statement
}
