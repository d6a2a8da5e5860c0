/** What estimators learn from at start: results, read from rows. */
import type { LedgerRow, WarmRow } from './ledger.ts'
import { readRow } from './row.ts'

export const warmFields = [
  'codeHash',
  'key',
  'parameters',
  'features',
  'work',
  'cpuMs',
  'wallMs',
  'peakMemoryMb',
  'worker',
  'measure',
  'quantities',
  'endedAt',
  'outcome',
] as const satisfies (keyof LedgerRow)[]

export type Result = Pick<LedgerRow, (typeof warmFields)[number]>

/** Undefined: it is not a result. Words: it cannot be true. */
export function readResult(raw: unknown, now: number): Result | string | undefined {
  return (raw as Result).outcome === 'result' ? readRow(raw, now, warmFields) : undefined
}

/** In order of time; given are those of one version of the code after the other, the newest of each first. */
export function toWarmRows(results: Result[]): WarmRow[] {
  return results
    .toReversed()
    .sort((a, b) => a.endedAt - b.endedAt)
    .map(({ endedAt: _, outcome: __, ...row }) => row)
}
