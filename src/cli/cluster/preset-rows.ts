/** The table of a published system, from the cluster that runs, or from the ledger of one that is stopped. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteLedger } from '../../ledger/sqlite.ts'
import { ConfigError } from '../../lib/errors.ts'
import { oneOf } from '../../lib/one-of.ts'
import { type PresetRows, presetRows } from '../../live/preset-rows.ts'
import { rowViews } from '../../systems/rows.ts'
import { type AdminValues, adminFrom } from '../terminal/admin.ts'
import { getJson } from '../terminal/client.ts'
import { table } from '../terminal/table.ts'
import { configuredData, readAddresses } from './addresses-file.ts'

/** A cluster that runs locks its ledger, so it is asked. */
export async function askedRows(preset: string, values: AdminValues, limit: number): Promise<PresetRows> {
  oneOf('--preset', preset, rowViews)
  if (values.admin === undefined && !(await readAddresses(values.data)))
    return storedRows(preset, values.data ?? (await configuredData()), limit)
  const { url, token } = await adminFrom(values)
  return getJson(url, `/api/rows?${new URLSearchParams({ preset, limit: `${limit}` })}`, { token })
}

async function storedRows(preset: string, dataDir: string, limit: number): Promise<PresetRows> {
  const file = join(dataDir, 'ledger.db')
  if (!existsSync(file)) throw new ConfigError(`--data = ${dataDir}: must contain ledger.db`)
  const ledger = await openSqliteLedger({ file })
  try {
    return await presetRows(ledger, preset, limit)
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
