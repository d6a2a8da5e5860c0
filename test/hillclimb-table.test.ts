/** The nine searches of the report on HillClimbing@Cloud, metered as its preset does, beside the report's Table 2. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { landscape, searches } from '../bench/tools/document.ts'
import { cases } from '../bench/tools/requests.ts'
import { figuresOf } from '../bench/tools/runs.ts'
import { presetOf } from '../src/systems/presets.ts'
import { read, usePool } from '../src/worker/slots/testing/use-pool.ts'
import { readCode } from '../src/worker/workload-code.ts'

test('HC-12 nine searches: counts by routine are in the same order of size as in the document, for each strategy', async (t) => {
  const files = [join(import.meta.dirname, '..', 'workloads', 'hillclimb.ts')]
  const meter = presetOf('hillclimbing').meter!
  const { metered } = await readCode(files, meter)
  const { start } = await usePool(t, { files, meter, metered })
  const counts: number[] = []
  for (const { params } of cases) {
    assert.deepEqual([params.map, params.width], [landscape.map, landscape.mapSide])
    const run = start('hillclimb', { ...params, output: 'json' })
    assert.equal((await read(run)).kind, 'result')
    counts.push((await run.ended).work!)
  }
  const order = (of: (search: number) => number, strategy: string) =>
    searches
      .map((search, i) => ({ ...search, count: of(i) }))
      .filter((search) => search.strategy === strategy)
      .sort((a, b) => b.count - a.count)
      .map(({ side }) => side)
  for (const strategy of ['BFS', 'DFS', 'ASTAR']) {
    const ours = order((i) => counts[i]!, strategy)
    assert.deepEqual(
      ours,
      order((i) => searches[i]!.instructions, strategy),
      strategy,
    )
  }
  for (const [i, { strategy, side, instructions }] of searches.entries()) {
    const factor = Math.max(counts[i]! / instructions, instructions / counts[i]!)
    t.diagnostic(
      `${strategy} ${side}: ${(counts[i]! / 1e6).toFixed(1)} beside ${(instructions / 1e6).toFixed(1)} million`,
    )
    assert.ok(factor < 10, `${strategy} ${side}: ${counts[i]}`)
  }
})

test('HC-12 the overhead of a tool is the median over the rounds of CPU time under it ÷ without it', () => {
  const result = (cpuMs: number, work = 7) => ({ cpuMs, work, tally: {}, visited: 3 })
  // The machine was twice as busy in the second round, for both.
  const plain = [10, 20, 10].map((cpuMs) => result(cpuMs, 0))
  const { overhead, cpuMs, work } = figuresOf(
    plain,
    [11, 22, 15].map((each) => result(each)),
  )
  assert.deepEqual([overhead, cpuMs, work], [1.1, 15, 7])
  assert.throws(
    () => figuresOf(plain, [result(11), result(22, 8), result(15)]),
    /a search was counted differently in two runs/,
  )
})
