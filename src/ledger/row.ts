/** Decides what a ledger accepts: a bad row must not take down the good ones that share its transaction. */
import { inspect } from 'node:util'
import { LedgerError } from '../errors.ts'
import { type LedgerRow, maxRecent, type RecentQuery } from './ledger.ts'

const kinds = {
  job: 'string',
  workload: 'string',
  codeHash: 'string',
  parameters: 'string',
  work: 'number',
  cpuMs: 'number',
  wallMs: 'number',
  peakMemoryMb: 'number',
  worker: 'string',
  attempts: 'number',
  startedAt: 'number',
  endedAt: 'number',
  outcome: 'string',
} as const satisfies Record<keyof LedgerRow, 'string' | 'number'>

export const fields = Object.keys(kinds) as (keyof LedgerRow)[]

/** A copy with the row's own fields only, or words for what is wrong with it. */
export function copyRow(row: LedgerRow): LedgerRow | string {
  if (typeof row !== 'object' || row === null) return `row = ${inspect(row)}: must be an object`
  const copy: Record<string, string | number> = {}
  for (const field of fields) {
    const value = row[field]
    if (typeof value !== kinds[field] || (typeof value === 'number' && !Number.isFinite(value))) {
      const allowed = kinds[field] === 'number' ? 'a finite number' : 'text'
      return `${field} = ${inspect(value, { depth: 0 }).slice(0, 80)}: must be ${allowed}`
    }
    copy[field] = value
  }
  return copy as unknown as LedgerRow
}

export function checkQuery({ limit }: RecentQuery): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > maxRecent) {
    throw new LedgerError(`limit = ${limit}: must be an integer from 1 to ${maxRecent}`)
  }
}
