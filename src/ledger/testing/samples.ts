/** Valid rows, metrics and snapshots for tests. */
import type { LedgerRow } from '../ledger.ts'
import type { MetricsRow } from '../metrics.ts'
import type { Snapshot } from '../snapshots.ts'

/** A row with every field set. A larger `number` means another job that ended later. */
export function sampleRow(number: number, differences: Partial<LedgerRow> = {}): LedgerRow {
  return {
    job: `job-${number}`,
    workload: 'julia',
    codeHash: 'code-1',
    parameters: `{"width":${number}}`,
    work: 1_000.5 + number,
    cpuMs: 12.25,
    wallMs: 20.5,
    peakMemoryMb: 64,
    worker: 'worker-1',
    attempts: 1,
    startedAt: 1_700_000_000_000 + number,
    endedAt: 1_700_000_000_020 + number,
    outcome: 'result',
    features: `{"pixels":${number}}`,
    key: `key-${number}`,
    measure: 'meter',
    quantities: '',
    ...differences,
  }
}

/** Metrics of a running job with every field set. */
export function sampleMetrics(differences: Partial<MetricsRow> = {}): MetricsRow {
  return {
    workload: 'factorize',
    codeHash: 'code-1',
    parameters: '{"n":"15"}',
    work: 100.5,
    tally: '{"instructions":80,"blocks":7}',
    running: true,
    worker: 'worker-1',
    attempt: 'job-1/1',
    at: 1_700_000_000_000,
    ...differences,
  }
}

export function sampleSnapshot(differences: Partial<Snapshot> = {}): Snapshot {
  const at = 1_700_000_000_000
  return {
    workload: 'julia',
    codeHash: 'code-1',
    name: 'learned',
    at,
    json: '{"slope":[1,2]}',
    ...differences,
  }
}
