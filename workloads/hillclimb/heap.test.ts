/** The order in which cells leave the heap. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CellHeap } from './heap.ts'

// The same cases in every run: a failure must be found, not met by chance.
fc.configureGlobal({ seed: 1 })

test('a cell with the smallest key comes first, also after keys were lowered', () => {
  const key = fc.oneof(fc.nat(20), fc.integer({ min: 0, max: 2 ** 31 - 2 }))
  const turns = fc.array(fc.record({ cell: fc.nat(2999), key, pops: fc.boolean() }), {
    maxLength: 5000,
    size: 'max',
  })
  fc.assert(
    fc.property(turns, (turns) => {
      const heap = new CellHeap(3000)
      const keys = new Map<number, number>()
      const popAndCheck = () => {
        const cell = heap.pop()
        if (keys.size === 0) return assert.equal(cell, -1)
        assert.equal(keys.get(cell), Math.min(...keys.values()))
        keys.delete(cell)
      }
      for (const { cell, key, pops } of turns) {
        const known = keys.get(cell)
        if (pops && key % 4 === 0) popAndCheck()
        else if (known === undefined) heap.push(key, cell)
        else if (key < known) heap.lower(key, cell)
        else continue
        if (!(pops && key % 4 === 0)) keys.set(cell, key)
      }
      assert.equal(heap.size, keys.size)
      while (keys.size > 0) popAndCheck()
      popAndCheck()
    }),
    { numRuns: 5 },
  )
})
