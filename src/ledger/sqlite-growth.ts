/** Forgets rows of the ledger's file by the rules of growth.ts, one small step at a time, so that nobody waits long. */
import type { DatabaseSync } from 'node:sqlite'
import { type GrowthLimits, roomOf, Sieve } from './growth.ts'
import type { LedgerRow } from './ledger.ts'
import { isLearnable } from './row.ts'
import { besideTables, type JobsTable, jobsAndTraits, readable } from './sqlite-jobs.ts'

export interface Growth {
  wrote(rows: LedgerRow[]): void
  wroteMetrics(entries: number): void
  /** Looks at a few rows. False: there is nothing left to do until more is written. */
  step(now: number): boolean
}

/** Takes a few milliseconds of the thread, with the commit. */
const stepRows = 100

interface Pass {
  workload: string
  codeHash: string
  sieve: Sieve<Place>
  /** Rows up to here were looked at. */
  after: Place
}

interface Place {
  id: number | bigint
  endedAt: number
}

type Facts = Place & Pick<LedgerRow, 'key' | 'work' | 'outcome'>

const start: Place = { id: 2n ** 63n - 1n, endedAt: Infinity }

export function growth(
  db: DatabaseSync,
  jobs: JobsTable,
  transaction: (write: () => void) => void,
  limits: GrowthLimits,
): Growth {
  const rowsWhere = (where: string) =>
    readable(
      db.prepare(
        `SELECT jobs.rowid AS id, ifnull(key, '') AS key, work, outcome, endedAt FROM ${jobsAndTraits}
           WHERE workload = :workload AND codeHash = :codeHash AND ${where}
           ORDER BY endedAt DESC, jobs.rowid DESC LIMIT ${stepRows}`,
      ),
    )
  // Two questions, not one with OR: that would look again at all rows of the same time.
  const sameTime = rowsWhere('endedAt = :endedAt AND jobs.rowid < :id')
  const earlier = rowsWhere('endedAt < :endedAt')
  // The time is compared too: a row number is used again when the last row is deleted.
  const removals = [
    ...besideTables.map(
      (table) =>
        `DELETE FROM ${table} WHERE id = (SELECT rowid FROM jobs WHERE rowid = :id AND endedAt = :endedAt)`,
    ),
    'DELETE FROM jobs WHERE rowid = :id AND endedAt = :endedAt',
  ].map((sql) => db.prepare(sql))
  const countMetrics = db.prepare('SELECT count(*) AS rows FROM metrics')
  const removeMetrics = db.prepare(
    'DELETE FROM metrics WHERE rowid IN (SELECT rowid FROM metrics ORDER BY rowid LIMIT ?)',
  )
  /** What was written before this file was opened may be of a Plimsoll that forgot nothing. */
  const due = new Set(jobs.workloads())
  const written = new Map<string, number>()
  let metricsWritten = limits.slack
  /** The versions of one workload's code that are still to be looked through, the current one first. */
  let passes: Pass[] = []

  function begin(now: number): void {
    const [workload] = due
    if (workload === undefined) return
    due.delete(workload)
    written.delete(workload)
    passes = jobs.versions(workload, now).map((codeHash, version) => {
      return { workload, codeHash, sieve: new Sieve(roomOf(version, limits), limits), after: start }
    })
  }

  function look(pass: Pass, now: number): void {
    const { workload, codeHash, sieve, after } = pass
    const { id, endedAt } = after
    const same = sameTime.all({ workload, codeHash, endedAt, id }) as unknown as Facts[]
    const more = same.length < stepRows ? earlier.all({ workload, codeHash, endedAt }) : []
    const rows = same.concat(more as unknown as Facts[])
    const gone = rows.flatMap(({ id, endedAt, key, work, outcome }) => {
      const learnable = isLearnable({ outcome, work, endedAt }, now)
      return sieve.show({ id: { id, endedAt }, key, work, learnable })
    })
    if (gone.length > 0) {
      transaction(() => {
        for (const { id, endedAt } of gone) {
          for (const removal of removals) removal.run({ id, endedAt })
        }
      })
    }
    const last = rows.at(-1)
    if (last && rows.length >= stepRows) pass.after = { id: last.id, endedAt: last.endedAt }
    else passes.shift()
  }

  function forgetMetrics(): void {
    const tooMany = Number(countMetrics.get()!.rows) - limits.metrics
    if (tooMany > 0) transaction(() => removeMetrics.run(Math.min(tooMany, stepRows)))
    if (tooMany <= stepRows) metricsWritten = 0
  }

  return {
    wrote(rows) {
      for (const { workload } of rows) {
        const count = (written.get(workload) ?? 0) + 1
        written.set(workload, count)
        if (count >= limits.slack) due.add(workload)
      }
    },
    wroteMetrics(entries) {
      metricsWritten += entries
    },
    step(now) {
      if (passes.length === 0) begin(now)
      if (passes[0]) look(passes[0], now)
      else if (metricsWritten >= limits.slack) forgetMetrics()
      return passes.length > 0 || due.size > 0 || metricsWritten >= limits.slack
    },
  }
}
