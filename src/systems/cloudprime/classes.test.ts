import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '../../lib/errors.ts'
import { classLimitsOf, classOf, usualClasses } from './classes.ts'

const [intermediate, max] = [161_751_155, 1_272_110_814]

test('CP-7 ranks from 161,751,155 are INTERMEDIATE, from 1,272,110,814 MAX, below short', () => {
  const kinds = [1, intermediate - 1, intermediate, max - 1, max, 1e18].map((work) =>
    classOf(work, usualClasses),
  )
  assert.deepEqual(kinds, ['short', 'short', 'intermediate', 'intermediate', 'max', 'max'])
})

test('invalid options are rejected by name', () => {
  const wrong = [
    { max: 5 },
    { intermediate: -1 },
    { mostMax: 0 },
    { highCpu: 0 },
    { graceMs: Infinity },
    { mostQueued: 1.5 },
  ]
  for (const given of wrong) {
    const [name] = Object.keys(given)
    assert.throws(
      () => classLimitsOf(given),
      (error: Error) => error instanceof ConfigError && error.message.includes(`placing.classes.${name} = `),
    )
  }
})
