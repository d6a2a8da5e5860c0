/** What HillClimbing meters: its solver, and nothing else of a request. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { MeterSetting } from '../../model/metering.ts'
import { read, usePool } from '../../worker/slots/testing/use-pool.ts'
import { readCode } from '../../worker/workload-code.ts'
import { presetOf } from '../presets.ts'

const files = [join(import.meta.dirname, '../../../workloads/hillclimb.ts')]
const meter = presetOf('hillclimbing').meter as Exclude<MeterSetting, 'off'>
const asked = { map: 5, width: 96, height: 96, x1: 47, y1: 47 }

async function searches(t: TestContext, setting: MeterSetting) {
  const { metered } = await readCode(files, setting)
  const { start } = await usePool(t, { files, meter: setting, metered })
  return async (more: Record<string, unknown>) => {
    const run = start('hillclimb', { ...asked, ...more })
    assert.equal((await read(run)).kind, 'result')
    return (await run.ended).work!
  }
}

test('HC-11 only the modules of the solver count: a search is the same work whatever is drawn of it', async (t) => {
  const work = await searches(t, meter)
  const { only: _, ...everything } = meter
  const workOfAll = await searches(t, everything)
  for (const strategy of ['BFS', 'DFS', 'ASTAR']) {
    const drawn = await work({ strategy, output: 'png' })
    assert.equal(await work({ strategy, output: 'json' }), drawn)
    assert.ok((await workOfAll({ strategy, output: 'png' })) > drawn)
  }
})

test('HC-11 routines are counted in the loop of each search, so work grows with the cells that it visits', async (t) => {
  const work = await searches(t, meter)
  for (const strategy of ['BFS', 'ASTAR']) {
    const [small, large] = [
      await work({ strategy, x1: 23, y1: 23 }),
      await work({ strategy, x1: 95, y1: 95 }),
    ]
    assert.ok(large > 4 * small, `${strategy}: ${small}, ${large}`)
  }
})
