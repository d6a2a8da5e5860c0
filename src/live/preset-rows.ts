/** The rows that a published system keeps of its requests, from a ledger. */

import { type Ledger, maxQueryLimit } from '../ledger/ledger.ts'
import { ConfigError } from '../lib/errors.ts'
import { oneOf } from '../lib/one-of.ts'
import { presetOf } from '../systems/presets.ts'
import { rowViews } from '../systems/rows.ts'

/** Rows by workload. */
export type PresetRows = Record<string, readonly object[]>

/** At most `limit` rows of each workload, with all that was recorded before the call. */
export async function presetRows(ledger: Ledger, preset: string, limit: number): Promise<PresetRows> {
  const view = oneOf('--preset', preset, rowViews)
  if (!Number.isInteger(limit) || limit < 1 || limit > maxQueryLimit)
    throw new ConfigError(`--limit = ${limit}: must be an integer from 1 to ${maxQueryLimit}`)
  await ledger.flush()
  const rows: PresetRows = {}
  for (const workload of presetOf(preset).workloads ?? [])
    rows[workload] = await view(ledger, workload, limit)
  return rows
}
