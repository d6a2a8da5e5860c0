/** Metrics of running and finished jobs: the fields of a row, and which worker may write it. */
import { inspect } from 'node:util'
import { boundedParameters, longestKey, longestName } from './bounded-text.ts'
import { invalid } from './checks.ts'

/** Identifies a request: equal requests to the same code share one row of metrics. */
export interface MetricsKey {
  workload: string
  codeHash: string
  /** Only equal requests have the same text: JSON, or a digest if the JSON would be long. */
  parameters: string
}

/** The attempt that writes a running row. Both fields are '' if the row has no owner. */
export interface MetricsOwner {
  worker: string
  /** Needed besides the worker, because a worker may run two equal requests at once. */
  attempt: string
}

export interface MetricsRow extends MetricsKey, MetricsOwner {
  work: number
  /** Amount of each metric, as JSON text. */
  tally: string
  /** A row that is not running is complete and never changes again. */
  running: boolean
  /** Milliseconds since 1970. */
  at: number
}

/** Selects owners; a missing field matches every owner. */
export type OwnerFilter = Partial<MetricsOwner>

/** One write to the metrics table: a row, or the release of rows. `parameters` determines its size in the buffer. */
export type MetricsEntry = { parameters: string } & ({ row: MetricsRow } | { release: OwnerFilter })

export type Kept = Pick<MetricsRow, 'running' | 'worker' | 'attempt'>

/**
 * A complete row never changes. Final metrics complete a row regardless of its owner. Only the owner may write metrics
 * of a running job; the first attempt that writes a row without an owner becomes its owner.
 */
export function mayWrite(kept: Kept | undefined, next: Kept): boolean {
  if (!kept) return true
  if (!kept.running) return false
  if (!next.running || kept.worker === '') return true
  return kept.worker === next.worker && kept.attempt === next.attempt
}

export function isOwnedBy(kept: Kept, { worker, attempt }: OwnerFilter): boolean {
  return (
    kept.running &&
    (worker === undefined || kept.worker === worker) &&
    (attempt === undefined || kept.attempt === attempt)
  )
}

const kinds = {
  workload: 'string',
  codeHash: 'string',
  parameters: 'string',
  work: 'number',
  tally: 'string',
  running: 'boolean',
  worker: 'string',
  attempt: 'string',
  at: 'number',
} as const satisfies Record<keyof MetricsRow, 'string' | 'number' | 'boolean'>

export const metricsFields = Object.keys(kinds) as (keyof MetricsRow)[]

/** A copy with the known fields only, and with bounded texts; or an error message. */
export function copyMetrics(entry: MetricsEntry): MetricsEntry | string {
  if ('release' in entry) return { parameters: '', release: { ...entry.release } }
  const { row } = entry
  if (typeof row !== 'object' || row === null) return `metrics = ${inspect(row)}: must be an object`
  const copy: Record<string, unknown> = {}
  for (const field of metricsFields) {
    const value = row[field]
    if (typeof value !== kinds[field] || (typeof value === 'number' && !Number.isFinite(value))) {
      return `metrics: ${invalid(field, value, `a ${kinds[field]}`)}`
    }
    copy[field] = value
  }
  const whole = copy as unknown as MetricsRow
  whole.parameters = boundedParameters(whole.parameters, longestKey)
  const tooLong = names.find((field) => whole[field].length > longestName)
  if (tooLong !== undefined)
    return `metrics: ${invalid(tooLong, whole[tooLong], `at most ${longestName} characters long`)}`
  return { parameters: whole.parameters, row: whole }
}

/** Texts that no client chooses. */
const names = ['workload', 'codeHash', 'tally', 'worker', 'attempt'] as const

/** The key under which the metrics of a request are stored: long parameters are replaced by their hash. */
export function storedKey({ workload, codeHash, parameters }: MetricsKey): MetricsKey {
  return { workload, codeHash, parameters: boundedParameters(parameters, longestKey) }
}
