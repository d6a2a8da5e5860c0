import { LedgerError } from '../lib/errors.ts'
import { maxQueryLimit } from './ledger.ts'

/** The rows that a query found, and how many invalid rows it skipped. */
export interface Collected<T> {
  rows: T[]
  skipped: number
  /** Why the first skipped row is invalid. */
  problem: string
}

export function checkLimit(limit: number): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > maxQueryLimit) {
    throw new LedgerError(`limit = ${limit}: must be an integer from 1 to ${maxQueryLimit}`)
  }
}

/**
 * Collects the first `limit` rows that `read` accepts. `read` returns an error message for an invalid row, and
 * undefined for a valid row that the query does not ask for.
 */
export function collect<T extends object>(
  raws: Iterable<unknown>,
  limit: number,
  read: (raw: unknown) => T | string | undefined,
): Collected<T> {
  const collected: Collected<T> = { rows: [], skipped: 0, problem: '' }
  if (limit <= 0) return collected
  for (const raw of raws) {
    const row = read(raw)
    if (typeof row === 'string') {
      collected.skipped++
      collected.problem ||= row
    } else if (row && collected.rows.push(row) === limit) break
  }
  return collected
}
