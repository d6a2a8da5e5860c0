/** Reads the Azure Functions trace, if it is present. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

export const traceFile = '../shared/traces/azure_functions_2019_http_8h_expanded.csv.gz'
const root = join(import.meta.dirname, '../..')
/** Durations have a resolution of 0.1 ms; 0 stands for less. */
const leastMs = 0.1

export interface Trace {
  atMs: Float64Array
  sizeMs: Float64Array
  /** Mean load in cores. */
  cores: number
}

let known: Trace | undefined

/** Undefined if the file does not exist. */
export function azureTrace(): Trace | undefined {
  known ??= read()
  return known
}

function read(): Trace | undefined {
  let packed: Buffer
  try {
    packed = readFileSync(join(root, traceFile))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const [head, ...lines] = gunzipSync(packed).toString().trimEnd().split(/\r?\n/)
  const columns = head!.split(',')
  const [at, size] = [columns.indexOf('t_ms'), columns.indexOf('duration_ms')]
  const rows = lines.map((line) => line.split(',').map(Number))
  const atMs = Float64Array.from(rows, (row) => row[at]!)
  const sizeMs = Float64Array.from(rows, (row) => Math.max(leastMs, row[size]!))
  const bad = rows.findIndex((_, i) => !(atMs[i]! >= (atMs[i - 1] ?? 0) && sizeMs[i]! < Infinity))
  if (bad >= 0) throw new Error(`${traceFile}: line ${bad + 2} is "${lines[bad]}"`)
  return { atMs, sizeMs, cores: sizeMs.reduce((sum, ms) => sum + ms, 0) / atMs.at(-1)! }
}
