/** Runs seeds of processes in virtual time: `npm run -s check:processes -- --seeds 2000 [--from N]`. */

import { parseArgs } from 'node:util'
import type { ProcessCounts } from './judge.ts'
import { runProcesses } from './world.ts'

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '200' }, from: { type: 'string', default: '1' } },
})
const from = Number(values.from)
const seeds = Number(values.seeds)
if (!(from >= 1 && seeds >= 1)) throw new Error('usage: --seeds N [--from N], both at least 1')
const totals: Partial<ProcessCounts> = {}
const failures: string[] = []
for (let seed = from; seed < from + seeds; seed++) {
  try {
    const counts = await runProcesses(seed)
    for (const [name, count] of Object.entries(counts) as [keyof ProcessCounts, number][])
      totals[name] =
        name === 'longestWaitMs' ? Math.max(totals[name] ?? 0, count) : (totals[name] ?? 0) + count
  } catch (error) {
    failures.push((error as Error).message)
  }
}
for (const failure of failures.slice(0, 10)) console.log(failure)
console.log(JSON.stringify({ seeds, ...totals, failed: failures.length }))
if (failures.length > 0) process.exitCode = 1
