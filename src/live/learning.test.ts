import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Overheads } from '../estimate/overheads.ts'
import { FleetRates } from '../estimate/rates.ts'
import { question } from '../estimate/testing/question.ts'
import type { Functions } from '../front/transports/function.ts'
import { presetOf } from '../systems/presets.ts'
import type { ClusterOptions } from './cluster-options.ts'
import { openLearning } from './learning.ts'

test('EW-2 what functions measured of foxes and wars is learned and stored, of compression it is not', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-learning-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  await using opening = new AsyncDisposableStack()
  const { estimator: ruled, unmeteredAway, workloads, meter } = presetOf('ecowork')
  const options = { ...{ files: [], dataDir, ruled: ruled! }, unmeteredAway: unmeteredAway! }
  const learning = await openLearning(
    options as unknown as ClusterOptions,
    {
      ...{
        nominal: 1000,
        code: {},
        meter: meter!,
        units: undefined,
        functions: 'functions',
        log: assert.fail,
      },
      ...{ rates: new FleetRates(1), overheads: new Overheads(1) },
    },
    opening,
  )
  const functions = { id: 'functions' } as Functions
  const learned = workloads!.map((workload) => {
    const stores = learning.storingFor(functions, question({}, { workload })) !== functions
    assert.equal(learning.ignores('functions', workload), !stores)
    assert.equal(learning.ignores('worker', workload), false)
    return [workload, stores]
  })
  assert.deepEqual(Object.fromEntries(learned), {
    'foxes-rabbits': true,
    'insect-war': true,
    compress: false,
  })
})
