import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '../../lib/errors.ts'
import { scalerOf } from '../../systems/scalers.ts'
import { fleetOf } from '../testing/scaling.ts'
import { fixed } from './fixed.ts'

const fleet = (ready: number, booting = 0) => fleetOf({ ready, booting })

test('within its bounds the fleet does not change', () => {
  const scaler = fixed({ min: 2, max: 4 })
  for (const view of [fleet(2), fleet(3), fleet(1, 3)]) assert.equal(scaler.decide(view, 0).kind, 'hold')
})

test('below the minimum it grows, above the maximum it shrinks', () => {
  const scaler = fixed({ min: 2, max: 4 })
  assert.deepEqual(scaler.decide(fleet(1), 0), {
    kind: 'scale',
    to: 2,
    reason: { code: 'below-min', have: 1, min: 2 },
  })
  assert.deepEqual(scaler.decide(fleet(4, 1), 0), {
    kind: 'scale',
    to: 4,
    reason: { code: 'above-max', have: 5, max: 4 },
  })
})

test('invalid bounds are rejected with the option, the value and what is allowed', () => {
  const refused = (bounds: { min: number; max: number }, message: string) =>
    assert.throws(() => scalerOf(bounds), new ConfigError(message))
  for (const min of [-1, 1.5, Number.NaN]) {
    refused({ min, max: 4 }, `scale.min = ${min}: must be a whole number, 0 or more`)
  }
  for (const max of [1, 2.5, Infinity, Number.NaN]) {
    refused({ min: 2, max }, `scale.max = ${max}: must be a whole number, at least scale.min (2)`)
  }
})
