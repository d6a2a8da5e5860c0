/** Metrics of jobs while they run and once they have: what a row holds, and who may write it. */
import { inspect } from 'node:util'

/** Names a request: whoever asks the same of the same code gets the same metrics. */
export interface MetricsKey {
  workload: string
  codeHash: string
  /** The same text for equal requests only; JSON, unless that would be long. */
  parameters: string
}

/** Who measures. A running row of nobody's has neither. */
export interface MetricsOwner {
  worker: string
  /** Names the attempt, and with it the slot: a worker may run the same request twice at a time. */
  attempt: string
}

export interface MetricsRow extends MetricsKey, MetricsOwner {
  work: number
  /** JSON text: how much of each metric. */
  tally: string
  /** False: complete, and never written again. */
  running: boolean
  /** Milliseconds since 1970. */
  at: number
}

/** An owner is gone: what it was measuring is nobody's now. Without a field: whoever it is. */
export type OwnerGone = Partial<MetricsOwner>

/** What is told to a ledger about metrics, in order. `parameters` is the text by which its size is known. */
export type MetricsEntry = { parameters: string } & ({ row: MetricsRow } | { gone: OwnerGone })

export type Kept = Pick<MetricsRow, 'running' | 'worker' | 'attempt'>

/**
 * The rule. What is complete stays. Final metrics complete a row, whoever owns it. Metrics of a running job are
 * written by the row's owner, or by anybody if it has none: then they make it theirs.
 */
export function mayWrite(kept: Kept | undefined, next: Kept): boolean {
  if (!kept) return true
  if (!kept.running) return false
  if (!next.running || kept.worker === '') return true
  return kept.worker === next.worker && kept.attempt === next.attempt
}

export function isOwnedBy(kept: Kept, { worker, attempt }: OwnerGone): boolean {
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

/** A copy with its own fields only, or words for what is wrong with it. */
export function copyMetrics(entry: MetricsEntry): MetricsEntry | string {
  if ('gone' in entry) return { parameters: '', gone: { ...entry.gone } }
  const { row } = entry
  if (typeof row !== 'object' || row === null) return `metrics = ${inspect(row)}: must be an object`
  const copy: Record<string, unknown> = {}
  for (const field of metricsFields) {
    const value = row[field]
    if (typeof value !== kinds[field] || (typeof value === 'number' && !Number.isFinite(value))) {
      return `metrics: ${field} = ${inspect(value, { depth: 0 }).slice(0, 80)}: must be a ${kinds[field]}`
    }
    copy[field] = value
  }
  const whole = copy as unknown as MetricsRow
  return { parameters: whole.parameters, row: whole }
}
