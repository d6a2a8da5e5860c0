import assert from 'node:assert/strict'
import { test } from 'node:test'
import { meterFlags } from '../model/metering.ts'
import { presetOf, presets } from '../systems/presets.ts'
import { front } from './front.ts'
import { functionCommand } from './function.ts'
import { readOptions } from './options.ts'
import { worker } from './worker.ts'

test('fronts, workers and functions accept the meter flags of every preset', () => {
  for (const name of Object.keys(presets)) {
    const flags = meterFlags(presetOf(name).meter ?? 'off')
    for (const { options } of [front, worker, functionCommand])
      assert.doesNotThrow(() => readOptions(flags, options), name)
  }
})
