/** Runs seeds of keepers as a test: `npm test` divides them between files, which run beside each other. */

import assert from 'node:assert/strict'
import type { KeeperCounts } from './judge.ts'
import { drawPlan } from './plan.ts'
import { runPlan } from './world.ts'

/** Seeds of one file. With those of faults and of processes, `npm test` runs 2,000; `npm run check:kept` 2,000 of these alone. */
const seedsOfPart = 445

/** `part`: counts from 0. */
export async function keepersKeepPromises(part: number): Promise<void> {
  const totals: Partial<KeeperCounts> = {}
  const from = part * seedsOfPart + 1
  for (let seed = from; seed < from + seedsOfPart; seed++) {
    const { counts, failures } = await runPlan(drawPlan(seed))
    assert.deepEqual(failures, [], `npm run -s check:kept -- --from ${seed} --seeds 1`)
    for (const [name, count] of Object.entries(counts) as [keyof KeeperCounts, number][])
      totals[name] = (totals[name] ?? 0) + count
  }
  const { accepted = 0, cancelled = 0, unknown = 0, repeated = 0, fenced = 0, posts = 0, faults = 0 } = totals
  assert.ok(accepted > 2_000 && faults > 800, `${accepted} jobs and ${faults} faults were drawn`)
  const rare = [cancelled, unknown, repeated, fenced, posts]
  assert.ok(Math.min(...rare) >= 10, `cancelled, unknown, repeated, fenced, posts: ${rare}`)
}
