import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leftOf, RecentMean, RecoveryTime, ReleaseRate, spreadMs } from './retry-times.ts'

test('waits of requests that are rejected together are spread evenly, and none is shortened', () => {
  const told = Array.from({ length: 100 }, (_, number) => spreadMs(100_000, number)).sort((a, b) => a - b)
  const gaps = told.map((ms, i) => ms - (told[i - 1] ?? 100_000))
  assert.ok(gaps.every((gap) => gap >= 0 && gap <= 500))
  assert.ok(told.at(-1)! >= 124_500 && told.at(-1)! <= 125_000)
  assert.equal(spreadMs(-5, 3), 0)
})

test('what lasts longer than usual is expected to go on for a part of its age', () => {
  assert.deepEqual([leftOf(10_000, 4_000), leftOf(10_000, 60_000)], [6_000, 15_000])
})

test('a mean begins with a guess, and follows the measurements', () => {
  const mean = new RecentMean(10)
  assert.equal(mean.value, 10)
  mean.add(100)
  assert.equal(mean.value, 100)
  for (let i = 0; i < 30; i++) mean.add(20)
  assert.ok(Math.abs(mean.value - 20) < 0.1)
})

test('an outage is expected to last as long as the last ones did', () => {
  let now = 0
  const outage = new RecoveryTime(2_000, () => now)
  const expects = (ms: number) => {
    const told = outage.retryAfterMs()
    assert.ok(told >= ms && told <= 1.25 * ms, `${told} for ${ms}`)
  }
  outage.begins()
  now = 500
  outage.begins()
  expects(1_500)
  now = 8_000
  expects(2_000)
  outage.ends()
  outage.ends()
  now = 100_000
  outage.begins()
  now = 101_000
  expects(7_000)
})

test('space is expected to become free at the rate of the recent past', () => {
  let now = 0
  const rate = new ReleaseRate(10_000, () => now)
  assert.equal(rate.msFor(1), Infinity)
  for (now = 0; now < 60_000; now += 100) rate.released(1_000)
  assert.ok(Math.abs(rate.msFor(50_000) - 5_000) < 100)
  now += 10_000
  assert.ok(rate.msFor(50_000) > 10_000)
})
