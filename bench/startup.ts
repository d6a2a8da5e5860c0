/** Start-up time and memory of `plimsoll up` with door and brain apart, compared with one process for both. */

import { median } from '../src/simulate/summary.ts'
import type { BenchOptions } from './options.ts'
import { type Layout, measureStart, type Started } from './startup/started.ts'

const layouts: readonly Layout[] = ['inside', 'apart']

/** Layouts alternate, so that a busy machine delays both. The first start of each, with empty caches, is not counted. */
export async function startup({ quick }: BenchOptions): Promise<Record<string, unknown>> {
  const rounds = quick ? 3 : 9
  const runs: Record<Layout, Started[]> = { inside: [], apart: [] }
  for (const layout of layouts) await measureStart(layout)
  for (let round = 0; round < rounds; round++) {
    for (const layout of layouts) runs[layout].push(await measureStart(layout))
  }
  const medians = (layout: Layout) => ({
    readyMs: median(runs[layout].map(({ readyMs }) => readyMs)),
    memoryMb: median(runs[layout].map(({ memoryMb }) => memoryMb)),
  })
  const [inside, apart] = [medians('inside'), medians('apart')]
  for (const [name, { readyMs, memoryMb }] of Object.entries({ inside, apart }))
    console.log(`${name.padEnd(6)}  ready after ${readyMs.toFixed(0)} ms, ${memoryMb.toFixed(1)} MB`)
  return {
    ready_vs_inside: Number((apart.readyMs / inside.readyMs).toFixed(3)),
    more_memory_mb: Number((apart.memoryMb - inside.memoryMb).toFixed(1)),
  }
}
