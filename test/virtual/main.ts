/**
 * Runs seeds of processes in virtual time: `npm run -s check:processes -- --seeds 2000 [--from N]`. A seed that fails is run
 * again with fewer requests and faults, as long as the same promise is broken, and its events are printed.
 */

import { parseArgs } from 'node:util'
import type { ProcessCounts } from './judge.ts'
import { runSeed } from './run-seed.ts'
import { shrunkLog } from './shrunk-processes.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    quiet: { type: 'boolean', default: false },
  },
})
const from = Number(values.from)
const seeds = Number(values.seeds)
if (!(from >= 1 && seeds >= 1)) throw new Error('usage: --seeds N [--from N] [--quiet], both at least 1')
const totals: Partial<ProcessCounts> = {}
const failed: number[] = []
for (let seed = from; seed < from + seeds; seed++) {
  const { counts, failures } = await runSeed(seed)
  for (const [name, count] of Object.entries(counts) as [keyof ProcessCounts, number][])
    totals[name] = name === 'longestWaitMs' ? Math.max(totals[name] ?? 0, count) : (totals[name] ?? 0) + count
  if (failures.length === 0) continue
  failed.push(seed)
  if (failed.length <= 10) console.log(`seed ${seed}: ${failures.join('; ')}`)
}
const [first] = failed
if (first !== undefined && !values.quiet) {
  console.log(['', ...(await shrunkLog(first))].join('\n'))
  console.log(`\nto repeat it: npm run -s check:processes -- --from ${first} --seeds 1`)
}
console.log(JSON.stringify({ seeds, ...totals, failed: failed.length }))
if (failed.length > 0) process.exitCode = 1
