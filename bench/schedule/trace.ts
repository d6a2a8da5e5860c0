/** The Azure Functions trace, if present: recorded arrivals and sizes, with time scaled to the given load. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Arrivals } from '../../src/simulate/arrivals.ts'
import type { Sizes } from '../../src/simulate/sizes.ts'

export const traceFile = '../shared/traces/azure_functions_2019_http_8h_expanded.csv.gz'
const root = join(import.meta.dirname, '../..')
/** The resolution of the dataset; a duration of 0 counts as this. */
const leastMs = 0.1

/** The jobs of one run: each arrival takes the next size. */
export interface Traffic {
  arrivals: Arrivals
  sizes: Sizes
}

export interface Trace {
  atMs: Float64Array
  sizeMs: Float64Array
  /** Mean load in cores. */
  cores: number
}

let known: Trace | undefined

/** Undefined: the file is missing. */
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

/** The trace's jobs, once, at a mean load of `load` cores. */
export function replayed({ atMs, sizeMs, cores }: Trace, load: number): Traffic {
  const scale = cores / load
  let [arrived, drawn] = [0, 0]
  const meanSeconds = sizeMs.reduce((sum, ms) => sum + ms, 0) / sizeMs.length / 1000
  return {
    arrivals: {
      name: 'azure',
      next: () => (arrived < atMs.length ? atMs[arrived++]! * scale : Infinity),
    },
    sizes: { name: 'azure', meanSeconds, draw: () => sizeMs[drawn++]! / 1000 },
  }
}
