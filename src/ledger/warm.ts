/** Reads the results that estimators learn from at start. */
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

/** Undefined if the row is not a result; an error message if it is invalid. */
export function readResult(raw: unknown, now: number): Result | string | undefined {
  return (raw as Result).outcome === 'result' ? readRow(raw, now, warmFields) : undefined
}

/** Sorts results by time. `results` are grouped by version of the code, each group newest first. */
export function toWarmRows(results: Result[]): WarmRow[] {
  return results
    .toReversed()
    .sort((a, b) => a.endedAt - b.endedAt)
    .map(({ endedAt: _, outcome: __, ...row }) => row)
}
