import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presetOf } from '../../systems/presets.ts'
import { GrowthWatch, growthLimitMs } from './growth.ts'

/** Looks at these sizes every second: ready, booting, queued. */
function watched(
  sizes: readonly (readonly [ready: number, booting: number, waiting: number])[],
): GrowthWatch {
  const watch = new GrowthWatch(3, 10_000)
  const list = (length: number) => Array.from({ length })
  for (const [i, [ready, booting, waiting]] of sizes.entries())
    watch.look({ ready, booting: list(booting), waiting: list(waiting) }, i * 1000)
  return watch
}

const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item)

test('a fleet that stays small while requests are queued is a fault', () => {
  const { fault } = watched(times(12, [1, 0, 5]))
  assert.match(
    fault!,
    /^the fleet did not grow, although requests were queued for 10\.0 s below its maximum of 3/,
  )
})

test('a fleet that grows, is at its maximum, or has no queue for a moment is none', () => {
  assert.equal(watched(times(10, [1, 0, 5])).fault, undefined)
  assert.equal(
    watched([...times(9, [1, 0, 5] as const), [1, 1, 5], ...times(9, [2, 0, 5] as const)]).fault,
    undefined,
  )
  assert.equal(
    watched([...times(9, [1, 0, 5] as const), [1, 0, 0], ...times(9, [1, 0, 5] as const)]).fault,
    undefined,
  )
  assert.equal(watched(times(99, [3, 0, 5])).fault, undefined)
})

test('the path of the fleet names the sizes at which it turned', () => {
  const sizes = [0, 1, 1, 0, 1, 2, 3, 3, 2, 1]
  assert.equal(watched(sizes.map((ready) => [ready, 0, 0])).path, '0 → 1 → 0 → 3 → 1')
  assert.equal(watched([[1, 0, 0]]).path, '1')
})

test('a scaler gets the time of some decisions', () => {
  assert.equal(growthLimitMs(presetOf('cnv')), 360_000)
  assert.equal(growthLimitMs(presetOf('cnv', { timeScale: 15 })), 24_000)
  assert.equal(growthLimitMs({}), 15_000)
})
