import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Boots } from './boots.ts'
import { Occupancy } from './occupancy.ts'

test('sums are what was there times how long, up to the moment of asking', () => {
  const occupancy = new Occupancy()
  occupancy.note(1000, 4, 1, 1)
  occupancy.note(3000, 4, 2, 5)
  assert.deepEqual(occupancy.sums(4000), { coreMs: 12_000, busyMs: 4000, jobMs: 7000 })
})

test('how long boots take is known for a share of them, of the last ones', () => {
  const boots = new Boots()
  assert.equal(boots.percentile(90), undefined)
  for (let i = 1; i <= 10; i++) boots.add(i * 1000)
  assert.deepEqual([boots.percentile(50), boots.percentile(90), boots.percentile(100)], [5000, 9000, 10_000])
  for (let i = 0; i < 64; i++) boots.add(500)
  assert.equal(boots.percentile(100), 500)
})
