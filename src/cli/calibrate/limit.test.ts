import assert from 'node:assert/strict'
import { test } from 'node:test'
import { largestWithin, sameOrder } from './limit.ts'

test('CP-18 the limit is where the slowdown of short requests passes the bound, between measurements', () => {
  const points = [
    [2, 3],
    [5, 6],
    [10, 11],
    [20, 21],
  ] as const
  assert.equal(largestWithin(points, 11), 10)
  assert.equal(largestWithin(points, 8.5), 7)
  assert.equal(largestWithin(points, 15.9), 14)
})

test('CP-18 a limit that is never passed is the largest that was measured, and one passed at once is 1', () => {
  assert.equal(
    largestWithin(
      [
        [2, 1],
        [20, 5],
      ],
      11,
    ),
    20,
  )
  assert.equal(largestWithin([[2, 100]], 11), 1)
  assert.equal(largestWithin([], 11), 1)
})

test('CP-19 pairs whose higher rank took longer are counted', () => {
  assert.deepEqual(
    sameOrder([
      [1, 10],
      [2, 30],
      [3, 20],
    ]),
    { agree: 2, all: 3 },
  )
})
