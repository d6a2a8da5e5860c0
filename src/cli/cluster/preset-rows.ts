/** `plimsoll rows --preset PRESET`: the system's own table, from the ledger of a data folder. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteLedger } from '../../ledger/sqlite.ts'
import { ConfigError } from '../../lib/errors.ts'
import { oneOf } from '../../lib/one-of.ts'
import { presetOf } from '../../systems/presets.ts'
import { rowViews } from '../../systems/rows.ts'
import { table } from '../terminal/table.ts'

/** Rows by workload. */
export type PresetRows = Record<string, readonly object[]>

export async function presetRows(preset: string, dataDir: string, limit: number): Promise<PresetRows> {
  const view = oneOf('--preset', preset, rowViews)
  const file = join(dataDir, 'ledger.db')
  if (!existsSync(file)) throw new ConfigError(`--data = ${dataDir}: must contain ledger.db`)
  const ledger = await openSqliteLedger({ file })
  try {
    const rows: PresetRows = {}
    for (const workload of presetOf(preset).workloads ?? [])
      rows[workload] = await view(ledger, workload, limit)
    return rows
  } finally {
    await ledger.close()
  }
}

export function rowsText(rows: PresetRows): string {
  return Object.entries(rows)
    .map(([workload, list]) => `${workload}\n${list.length === 0 ? '(no rows)' : tableOf(list)}`)
    .join('\n\n')
}

function tableOf(rows: readonly object[]): string {
  const head = Object.keys(rows[0]!)
  const cells = rows.map((row) => Object.values(row).map(cellOf))
  const words = head
    .map((_, i) => i)
    .filter((i) => rows.some((row) => typeof Object.values(row)[i] !== 'number'))
  return table(head, cells, words)
}

function cellOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '')
}
