/** Checks questions to a ledger, and keeps what can be read of their answers. */
import { LedgerError } from '../lib/errors.ts'
import { maxRecent } from './ledger.ts'

/** What was found, and what was passed over. */
export interface Found<T> {
  rows: T[]
  skipped: number
  /** What was wrong with the first one that was passed over. */
  why: string
}

export function checkLimit(limit: number): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > maxRecent) {
    throw new LedgerError(`limit = ${limit}: must be an integer from 1 to ${maxRecent}`)
  }
}

/** The first `limit` that `read` accepts. It says with words what is wrong with one, or undefined: not asked for. */
export function gather<T extends object>(
  raws: Iterable<unknown>,
  limit: number,
  read: (raw: unknown) => T | string | undefined,
): Found<T> {
  const found: Found<T> = { rows: [], skipped: 0, why: '' }
  if (limit <= 0) return found
  for (const raw of raws) {
    const row = read(raw)
    if (typeof row === 'string') {
      found.skipped++
      found.why ||= row
    } else if (row && found.rows.push(row) === limit) break
  }
  return found
}
