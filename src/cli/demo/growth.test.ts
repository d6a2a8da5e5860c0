import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GrowthWatch } from './growth.ts'

const rule = {
  words: 'requests are queued',
  demands: ({ waiting }: { waiting: readonly unknown[] }) => waiting.length > 0,
  withinMs: 5000,
}

/** Looks at these sizes every second: ready, booting, queued. */
function watched(
  sizes: readonly (readonly [ready: number, booting: number, waiting: number])[],
): GrowthWatch {
  const watch = new GrowthWatch(3, rule)
  const list = (length: number) => Array.from({ length }, () => 'x')
  for (const [i, [ready, booting, waiting]] of sizes.entries())
    watch.look({ ready, booting: list(booting), waiting: list(waiting), scaling: {}, workers: [] }, i * 1000)
  return watch
}

const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item)

test('a fleet that stays small while its rule demands workers is a fault', () => {
  const { fault } = watched(times(22, [1, 0, 5]))
  assert.match(
    fault!,
    /^the fleet did not grow for 20\.0 s below its maximum of 3 workers, .* \(requests are queued\); the limit is 20\.0 s$/,
  )
})

test('a fleet that grows, is at its maximum, or whose rule is content for a moment is none', () => {
  assert.equal(watched(times(20, [1, 0, 5])).fault, undefined)
  assert.equal(
    watched([...times(19, [1, 0, 5] as const), [1, 1, 5], ...times(19, [2, 0, 5] as const)]).fault,
    undefined,
  )
  assert.equal(
    watched([...times(19, [1, 0, 5] as const), [1, 0, 0], ...times(19, [1, 0, 5] as const)]).fault,
    undefined,
  )
  assert.equal(watched(times(99, [3, 0, 5])).fault, undefined)
})

test('the path of the fleet names the sizes at which it turned', () => {
  const sizes = [0, 1, 1, 0, 1, 2, 3, 3, 2, 1]
  assert.equal(watched(sizes.map((ready) => [ready, 0, 0])).path, '0 → 1 → 0 → 3 → 1')
  assert.equal(watched([[1, 0, 0]]).path, '1')
})
