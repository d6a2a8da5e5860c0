import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { drawPlan } from './keeper/plan.ts'
import { keepersKeepPromises } from './keeper/seeds.ts'
import { runPlan } from './keeper/world.ts'

test('keepers keep their promises when stores fail, processes die and another keeper takes over', () =>
  keepersKeepPromises(0))

test('a seed of keepers gives the same run every time, and in every process', async () => {
  const first = await runPlan(drawPlan(3))
  assert.deepEqual(await runPlan(drawPlan(3)), first)
  const args = [join(import.meta.dirname, 'keeper', 'main.ts'), '--from', '3', '--seeds', '1']
  const { stdout } = await promisify(execFile)(process.execPath, args)
  assert.deepEqual(JSON.parse(stdout), { seeds: 1, ...first.counts, failed: 0 })
})
