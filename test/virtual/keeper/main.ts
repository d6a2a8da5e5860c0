/**
 * Runs seeds of keepers in virtual time: `npm run -s check:kept -- --seeds 2000 [--from N]`. A seed that fails is run again
 * with fewer requests and faults, as long as the same promise is broken, and its events are printed.
 */

import { parseArgs } from 'node:util'
import type { KeeperCounts } from './judge.ts'
import { drawPlan, type Plan } from './plan.ts'
import { shrunkLog } from './shrunk-keepers.ts'
import { runPlan } from './world.ts'

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

const totals: Partial<KeeperCounts> = {}
const failed: Plan[] = []
for (let seed = from; seed < from + seeds; seed++) {
  const plan = drawPlan(seed)
  const { counts, failures } = await runPlan(plan)
  for (const [name, count] of Object.entries(counts) as [keyof KeeperCounts, number][])
    totals[name] = (totals[name] ?? 0) + count
  if (failures.length === 0) continue
  failed.push(plan)
  if (failed.length <= 10) console.log(`seed ${seed}: ${failures[0]}`)
}
const [first] = failed
if (first && !values.quiet) {
  console.log(['', ...(await shrunkLog(first))].join('\n'))
  console.log(`\nto repeat it: npm run -s check:kept -- --from ${first.seed} --seeds 1`)
}
console.log(JSON.stringify({ seeds, ...totals, failed: failed.length }))
if (failed.length > 0) process.exitCode = 1
