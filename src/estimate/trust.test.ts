import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chain } from './chain.ts'
import { constant } from './constant.ts'
import type { Guess } from './estimator.ts'
import { memo } from './memo.ts'
import { priorMemory, priorWork } from './prior.ts'
import { ruleEstimator } from './rules-estimator.ts'
import { Trust } from './trust.ts'

const tight = { low: 50, high: 200 }
const guess = (reason: Guess['reason'], more: Partial<Guess> = {}): Guess => ({
  value: 100,
  source: 'similar',
  reason,
  ...more,
})
const mean = guess({ code: 'geometric-mean', rows: 3 })

test('a rule is proven when eight of its guesses have been checked', () => {
  const trust = new Trust()
  for (let i = 0; i < 7; i++) trust.checked('v1', mean)
  assert.equal(trust.isProven('v1', mean, tight), false)
  trust.checked('v1', mean)
  assert.equal(trust.isProven('v1', mean, tight), true)
})

test('checks of another rule, or of older code, prove nothing', () => {
  const trust = new Trust()
  for (let i = 0; i < 20; i++) trust.checked('v1', mean)
  assert.equal(trust.isProven('v1', guess({ code: 'learned', rows: 5 }), tight), false)
  assert.equal(trust.isProven('v2', mean, tight), false)
  trust.checked('v2', mean)
  assert.equal(trust.isProven('v2', mean, tight), false)
})

test('an interval that spans a factor of more than 1,000 is never proven', () => {
  const trust = new Trust()
  for (let i = 0; i < 20; i++) trust.checked('v1', mean)
  assert.equal(trust.isProven('v1', mean, { low: 1, high: 1001 }), false)
  assert.equal(trust.isProven('v1', mean, { low: 0, high: 1 }), false)
})

test('a model of twenty rows of the current code needs no further checks', () => {
  const trust = new Trust()
  const model = (rows: number, more: Partial<Guess> = {}) =>
    guess({ code: 'learned', rows }, { source: 'model', ...more })
  assert.equal(trust.isProven('v1', model(20), tight), true)
  assert.equal(trust.isProven('v1', model(19), tight), false)
  assert.equal(trust.isProven('v1', model(20, { carriedOver: true }), tight), false)
})

test('estimates of a workload are unproven until they have been checked, and repeats are proven', () => {
  const rule = () => chain(memo(), constant(), priorWork(1000))
  const estimator = ruleEstimator({ work: rule, memory: () => priorMemory() })
  const question = (key: string) => ({ workload: 'w', codeHash: 'v1', key, params: {}, features: {} })
  const first = estimator.estimate(question('a'))
  assert.equal(first.unproven, true)
  let checked = 0
  while (estimator.estimate(question(`new ${checked}`)).unproven) {
    estimator.learn(question(`${checked}`), { work: 900 + 50 * (checked % 5), peakMemoryMb: 50 })
    assert.ok(++checked < 20)
  }
  // The first was checked against the prior.
  assert.equal(checked, 9)
  assert.equal(estimator.estimate(question('0')).unproven, undefined)
})
