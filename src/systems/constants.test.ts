import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '../lib/errors.ts'
import { constantsText, readConstants } from './constants.ts'
import { measuredConstants, presetOf } from './presets.ts'

test('constants are read as they are written', () => {
  for (const [preset, usual] of Object.entries(measuredConstants))
    assert.deepEqual(readConstants(constantsText(usual), preset, usual), usual)
})

test('every measured constant of a preset changes the preset', () => {
  for (const [preset, usual] of Object.entries(measuredConstants)) {
    const plain = JSON.stringify(presetOf(preset))
    assert.equal(JSON.stringify(presetOf(preset, { constants: constantsText(usual) })), plain)
    for (const [name, value] of Object.entries(usual)) {
      const other = typeof value === 'number' ? value * 2 : value.map((each: number) => each + 1)
      const changed = JSON.stringify(presetOf(preset, { constants: constantsText({ [name]: other }) }))
      assert.notEqual(changed, plain, `${preset} ignores ${name}`)
    }
  }
})

test('invalid constants are rejected with what is allowed', () => {
  const problem = (preset: string, constants: string) => {
    try {
      presetOf(preset, { constants })
    } catch (error) {
      assert.ok(error instanceof ConfigError)
      return error.message
    }
    return assert.fail(constants)
  }
  assert.match(problem('cloudprime', 'least=1'), /least: must be one of intermediate, max, metricsEvery/)
  for (const text of ['max', 'max=', 'max=0', 'max=-1', 'max=x', 'max=1/2'])
    assert.match(problem('cloudprime', text), /constants: max = .*: must be a number above 0/)
  assert.match(problem('tiered', 'hours=1/2/3'), /must be 24 numbers above 0, separated by \//)
  assert.match(problem('nginx', 'max=1'), /the preset nginx has no measured constants/)
})
