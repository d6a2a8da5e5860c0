import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jobSpeed } from './job-speed.ts'
import { FleetRates } from './rates.ts'

const nominal = 1000
const job = { workload: 'julia', work: 10_000, low: 5000 }

test('an unmeasured workload runs at the announced rate, and may be several times as fast', () => {
  const { expected, high } = jobSpeed(job, job, new FleetRates(nominal), nominal)!
  assert.equal(expected, 1)
  assert.ok(high > 1.5 && high < 4, `${high}`)
})

test('the speed follows the measured rate, and the interval narrows', () => {
  const rates = new FleetRates(nominal)
  for (let i = 0; i < 10; i++) rates.learn('w1', 'julia', 8000, 1000)
  const { expected, high } = jobSpeed(job, job, rates, nominal)!
  assert.ok(Math.abs(expected / 8 - 1) < 0.01, `${expected}`)
  assert.ok(high > expected && high < 1.2 * expected, `${high}`)
})

test('overhead is a time, whatever the rate of the workload', () => {
  const rates = new FleetRates(nominal)
  for (let i = 0; i < 10; i++) rates.learn('w1', 'julia', 8000, 1000)
  const overhead = { low: 500, expected: 1000, high: 2000, work: 1000 }
  const { expected } = jobSpeed({ ...job, work: 9000 }, { work: 8000, low: 8000, overhead }, rates, nominal)!
  // Two seconds, for what would be nine.
  assert.ok(Math.abs(expected / 4.5 - 1) < 0.01, `${expected}`)
})

test('a job without work, or without a nominal rate, has no speed', () => {
  const none = { workload: 'julia', work: 0, low: 0 }
  assert.equal(jobSpeed(none, none, new FleetRates(nominal), nominal), undefined)
  assert.equal(jobSpeed(job, job, new FleetRates(nominal), NaN), undefined)
})
