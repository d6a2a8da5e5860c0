/** Validates rows, both when they are recorded and when they are read: other programs may have changed the file. */
import { inspect } from 'node:util'
import type { Measure } from '../model/cost.ts'
import type { Outcome } from '../model/job.ts'
import { boundedFeatures, boundedKey, boundedParameters, longestName } from './bounded-text.ts'
import { invalid, isJson } from './checks.ts'
import type { LedgerRow } from './ledger.ts'

/** Enumerated fields. */
const choices = {
  outcome: ['result', 'error', 'refused', 'unknown', 'dropped'] satisfies Outcome[],
  measure: ['meter', 'header', 'cpu', 'time'] satisfies Measure[],
} as const
type Kind = 'text' | keyof typeof choices | number

/** A number is a generous upper bound: a larger value cannot have been measured. */
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

/** Tolerated clock difference. A row from further in the future would stay the newest row forever. */
export const maxClockAheadMs = 86_400_000

/** A copy with the known fields only, and with bounded texts; or an error message. */
export function copyRow(row: LedgerRow): LedgerRow | string {
  if (typeof row !== 'object' || row === null) return `row = ${inspect(row)}: must be an object`
  const copy = copyFields(row, fields)
  if (typeof copy === 'string') return copy
  copy.parameters = boundedParameters(copy.parameters)
  copy.features = boundedFeatures(copy.features)
  copy.key = boundedKey(copy.key)
  const tooLong = names.find((field) => copy[field].length > longestName)
  return tooLong === undefined
    ? copy
    : invalid(tooLong, copy[tooLong], `at most ${longestName} characters long`)
}

/** Texts that no client chooses. */
const names = ['job', 'workload', 'codeHash', 'worker', 'quantities'] as const

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
        return invalid(field, value, `a number from 0 to ${kind}`)
      }
      copy[field] = value
    } else {
      if (typeof value !== 'string') return invalid(field, value, 'text')
      const allowed: readonly string[] | undefined = kind === 'text' ? undefined : choices[kind]
      if (allowed?.includes(value) === false) return invalid(field, value, `one of ${allowed.join(', ')}`)
      copy[field] = value
    }
  }
  return copy as unknown as Pick<LedgerRow, F>
}

type Texts = 'parameters' | 'features' | 'endedAt'

/** Like `copyRow`, for a row (or some of its fields) read from a ledger; also checks JSON texts and times. */
export function readRow<F extends keyof LedgerRow = keyof LedgerRow>(
  raw: unknown,
  now: number,
  wanted: readonly (F | Texts)[] = fields as (F | Texts)[],
): Pick<LedgerRow, F | Texts> | string {
  const row = copyFields(raw as LedgerRow, wanted)
  if (typeof row === 'string') return row
  if (row.endedAt > now + maxClockAheadMs)
    return invalid('endedAt', row.endedAt, 'a time that is not in the future')
  if (!isJson(row.parameters)) return invalid('parameters', row.parameters, 'JSON')
  if (row.features !== '' && !isJson(row.features, isFeatures)) {
    return invalid('features', row.features, 'a JSON object of numbers, texts and booleans')
  }
  return row
}

/** Whether estimators may learn from the row, judged without parsing its JSON texts. */
export function isLearnable(row: Pick<LedgerRow, 'outcome' | 'work' | 'endedAt'>, now: number): boolean {
  const { outcome, work, endedAt } = row
  // A value read from a damaged file may have any type.
  const isNumber = typeof work === 'number' && work >= 0 && work <= kinds.work
  return outcome === 'result' && isNumber && endedAt <= now + maxClockAheadMs
}

function isFeatures(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every(
    (each) => Number.isFinite(each) || typeof each === 'string' || typeof each === 'boolean',
  )
}
