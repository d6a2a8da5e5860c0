/** The order of cells in the queue. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CellQueue } from './queue.ts'

// A fixed seed: every run checks the same cases.
fc.configureGlobal({ seed: 1 })

test('cells leave in order of their keys, and only once, also after keys were lowered', () => {
  // Distance of a key from the last one taken: within the first blocks, and beyond all blocks.
  const above = fc.oneof(fc.nat(20), fc.nat(3000), fc.nat(10 ** 7))
  const turns = fc.array(fc.record({ cell: fc.nat(2999), above, pops: fc.boolean() }), {
    maxLength: 5000,
    size: 'max',
  })
  fc.assert(
    fc.property(turns, fc.nat(6), (turns, bits) => {
      const queue = new CellQueue(3000, bits)
      const keys = new Map<number, number>()
      const taken = new Set<number>()
      let last = 0
      const popAndCheck = () => {
        const cell = queue.pop()
        if (keys.size === 0) return assert.equal(cell, -1)
        last = Math.min(...keys.values())
        assert.equal(keys.get(cell), last)
        keys.delete(cell)
        taken.add(cell)
      }
      popAndCheck()
      for (const { cell, above, pops } of turns) {
        const key = last + above
        if (!taken.has(cell) && key < (keys.get(cell) ?? Infinity)) {
          queue.push(key, cell)
          keys.set(cell, key)
        }
        if (pops && above % 2 === 0) popAndCheck()
      }
      while (keys.size > 0) popAndCheck()
      popAndCheck()
    }),
    { numRuns: 10 },
  )
})
