import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { KeeperCounts } from './keeper/judge.ts'
import { drawPlan } from './keeper/plan.ts'
import { runPlan } from './keeper/world.ts'

/** `npm run check:kept` runs thousands. */
const seeds = 320

test('keepers keep their promises when stores fail, processes die and another keeper takes over', async () => {
  const totals: Partial<KeeperCounts> = {}
  for (let seed = 1; seed <= seeds; seed++) {
    const { counts, failures } = await runPlan(drawPlan(seed))
    assert.deepEqual(failures, [], `npm run -s check:kept -- --from ${seed} --seeds 1`)
    for (const [name, count] of Object.entries(counts) as [keyof KeeperCounts, number][])
      totals[name] = (totals[name] ?? 0) + count
  }
  const { accepted = 0, cancelled = 0, unknown = 0, repeated = 0, fenced = 0, posts = 0, faults = 0 } = totals
  assert.ok(accepted > 1_500 && faults > 600, `${accepted} jobs and ${faults} faults were drawn`)
  const rare = [cancelled, unknown, repeated, fenced, posts]
  assert.ok(Math.min(...rare) >= 10, `cancelled, unknown, repeated, fenced, posts: ${rare}`)
})

test('a seed of keepers gives the same run every time, and in every process', async () => {
  const first = await runPlan(drawPlan(3))
  assert.deepEqual(await runPlan(drawPlan(3)), first)
  const args = [join(import.meta.dirname, 'keeper', 'main.ts'), '--from', '3', '--seeds', '1']
  const { stdout } = await promisify(execFile)(process.execPath, args)
  assert.deepEqual(JSON.parse(stdout), { seeds: 1, ...first.counts, failed: 0 })
})
