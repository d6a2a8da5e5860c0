/** Properties of generated landscapes. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { generatedMap } from './map.ts'

// A fixed seed: every run checks the same cases.
fc.configureGlobal({ seed: 1 })

/** The heights of a generated map. */
function heightsOf(map: number, width: number, height = width): Uint16Array {
  const heights = new Uint16Array(width * height)
  const { fillRow } = generatedMap(map, width, height)
  for (let y = 0; y < height; y++) fillRow(0, y, 1, heights.subarray(y * width, (y + 1) * width))
  return heights
}

test('a landscape is identical on every machine', () => {
  const digest = (map: number, side: number) =>
    createHash('sha256')
      .update(Buffer.from(heightsOf(map, side).buffer))
      .digest('hex')
      .slice(0, 16)
  assert.deepEqual([digest(1, 64), digest(2 ** 32 - 1, 100)], ['a4804a965478fb50', '63731fc0166d9cc7'])
})

test('a landscape has many heights, differs for each number, and keeps its shape in a larger map', () => {
  const [one, other] = [heightsOf(1, 128), heightsOf(2, 128)]
  assert.notDeepEqual(one, other)
  const sorted = one.toSorted()
  assert.ok(sorted.at(-1)! - sorted[0]! > 30_000)
  assert.ok(new Set(one).size > 5000)
  const larger = heightsOf(1, 256)
  for (let y = 0; y < 128; y += 8) {
    for (let x = 0; x < 128; x += 8) {
      assert.ok(Math.abs(larger[2 * y * 256 + 2 * x]! - one[y * 128 + x]!) < 4000)
    }
  }
})

test('a section or a sample of a landscape has the same heights as the whole', () => {
  const side = 90
  const whole = heightsOf(7, side)
  const { fillRow } = generatedMap(7, side, side)
  fc.assert(
    fc.property(fc.nat(89), fc.nat(89), fc.integer({ min: 1, max: 20 }), (x, y, step) => {
      const row = new Uint16Array(Math.ceil((side - x) / step))
      fillRow(x, y, step, row)
      for (const [i, height] of row.entries()) assert.equal(height, whole[y * side + x + i * step])
    }),
  )
})
