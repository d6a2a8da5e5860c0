import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFlat, trendOf } from './support/hostile/memory-trend.ts'

/** A heap that is collected every 20 s, with a growing rest. */
function samples(growthMb: number) {
  return Array.from({ length: 600 }, (_, i) => ({ atMs: i * 1000, mb: 80 + (i % 20) + (growthMb * i) / 600 }))
}

test('a heap that only rises and falls between collections is flat', () => {
  const trend = trendOf(samples(0))!
  assert.ok(isFlat(trend))
  assert.ok(Math.abs(trend.growthMb) < 1)
})

test('a leak of 30 MB is found below the noise of collections', () => {
  const trend = trendOf(samples(30))!
  assert.ok(!isFlat(trend))
  assert.ok(Math.abs(trend.growthMb - 27.5) < 4, `${trend.growthMb}`)
})

test('too few samples give no verdict', () => {
  assert.equal(trendOf(samples(0).slice(0, 8)), undefined)
})
