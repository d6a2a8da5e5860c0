import assert from 'node:assert/strict'
import test from 'node:test'
import { presets } from '../systems/presets.ts'
import { scalers } from '../systems/scalers.ts'
import { clusterOptions, scalerNames } from './cluster-options.ts'
import { checkOption, defaultOf, flagOf } from './option.ts'

test('the table names every preset and every scaling policy that needs no plan', () => {
  assert.deepEqual([...clusterOptions.preset.choices].sort(), Object.keys(presets).sort())
  assert.deepEqual([...scalerNames, 'planned', 'wandering'].sort(), Object.keys(scalers).sort())
})

test('every default passes its own check', () => {
  for (const [key, spec] of Object.entries(clusterOptions)) {
    const value = defaultOf(spec)
    if (value !== undefined) assert.equal(checkOption(key, value, spec), value, key)
  }
})

test('keys and flags correspond one to one', () => {
  const flags = Object.keys(clusterOptions).map(flagOf)
  assert.equal(new Set(flags).size, flags.length)
  for (const flag of flags) assert.match(flag, /^--[a-z][a-z0-9]*(-[a-z]+)*$/)
})
