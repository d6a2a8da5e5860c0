/** Decides what a ledger accepts and what it passes over: a bad row must not take down the good ones beside it. */
import { inspect } from 'node:util'
import type { Measure } from '../model/cost.ts'
import type { Outcome } from '../model/job.ts'
import type { LedgerRow } from './ledger.ts'

/** Fields that must have one of a few values. */
const choices = {
  outcome: ['result', 'error', 'refused', 'unknown', 'dropped'] satisfies Outcome[],
  measure: ['meter', 'header', 'cpu', 'time'] satisfies Measure[],
} as const
type Kind = 'text' | keyof typeof choices | number

/** A number says the most that can be true, generously: what is beyond it was never measured. */
const kinds = {
  job: 'text',
  workload: 'text',
  codeHash: 'text',
  parameters: 'text',
  work: 1e18,
  cpuMs: 1e13,
  wallMs: 1e13,
  peakMemoryMb: 1e9,
  worker: 'text',
  attempts: 1e6,
  startedAt: 8.64e15,
  endedAt: 8.64e15,
  outcome: 'outcome',
  features: 'text',
  key: 'text',
  measure: 'measure',
  quantities: 'text',
} as const satisfies Record<keyof LedgerRow, Kind>

export const fields = Object.keys(kinds) as (keyof LedgerRow)[]

/** Clocks differ, but not by more: a row from further in the future would be the newest for ever. */
export const aheadMs = 86_400_000

/** A copy with the row's own fields only, or words for what is wrong with it. */
export function copyRow(row: LedgerRow): LedgerRow | string {
  if (typeof row !== 'object' || row === null) return `row = ${inspect(row)}: must be an object`
  return copyFields(row, fields)
}

function copyFields<F extends keyof LedgerRow>(
  row: LedgerRow,
  wanted: readonly F[],
): Pick<LedgerRow, F> | string {
  const copy: Record<string, string | number> = {}
  for (const field of wanted) {
    const kind: Kind = kinds[field]
    const value: unknown = row[field]
    if (typeof kind === 'number') {
      if (typeof value !== 'number' || !(value >= 0 && value <= kind)) {
        return wrong(field, value, `a number from 0 to ${kind}`)
      }
      copy[field] = value
    } else {
      if (typeof value !== 'string') return wrong(field, value, 'text')
      const allowed: readonly string[] | undefined = kind === 'text' ? undefined : choices[kind]
      if (allowed?.includes(value) === false) return wrong(field, value, `one of ${allowed.join(', ')}`)
      copy[field] = value
    }
  }
  return copy as unknown as Pick<LedgerRow, F>
}

type Texts = 'parameters' | 'features' | 'endedAt'

/** Likewise for a row, or some of its fields, that comes out of a ledger: its texts too must be what they should. */
export function readRow<F extends keyof LedgerRow = keyof LedgerRow>(
  raw: unknown,
  now: number,
  wanted: readonly (F | Texts)[] = fields as (F | Texts)[],
): Pick<LedgerRow, F | Texts> | string {
  const row = copyFields(raw as LedgerRow, wanted)
  if (typeof row === 'string') return row
  if (row.endedAt > now + aheadMs) return wrong('endedAt', row.endedAt, 'a time that has come')
  if (!isJson(row.parameters)) return wrong('parameters', row.parameters, 'JSON')
  if (row.features !== '' && !isJson(row.features, isFeatures)) {
    return wrong('features', row.features, 'a JSON object of numbers, texts and booleans')
  }
  return row
}

/** Whether estimators may learn from it, as far as can be told without looking into its texts. */
export function isLearnable(row: Pick<LedgerRow, 'outcome' | 'work' | 'endedAt'>, now: number): boolean {
  const { outcome, work, endedAt } = row
  // Out of a damaged file comes what no type allows.
  const isNumber = typeof work === 'number' && work >= 0 && work <= kinds.work
  return outcome === 'result' && isNumber && endedAt <= now + aheadMs
}

export function isJson(text: string, isRight: (value: unknown) => boolean = () => true): boolean {
  try {
    return isRight(JSON.parse(text))
  } catch {
    return false
  }
}

function isFeatures(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every(
    (each) => Number.isFinite(each) || typeof each === 'string' || typeof each === 'boolean',
  )
}

export function wrong(field: string, value: unknown, allowed: string): string {
  return `${field} = ${inspect(value, { depth: 0 }).slice(0, 80)}: must be ${allowed}`
}
