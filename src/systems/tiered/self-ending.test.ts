import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presetOf } from '../presets.ts'
import { SelfEnding } from './self-ending.ts'

const { front, middle } = presetOf('tiered').scale!.tiers!.ending!

test('TI-6 a front asks to leave after more than 1 s idle, a middle after more than 2 s', () => {
  for (const [rule, limitMs] of [
    [front, 1000],
    [middle, 2000],
  ] as const) {
    const node = new SelfEnding(rule, 100)
    assert.equal(node.check(100 + limitMs), undefined)
    assert.ok(node.dueAt > 100 + limitMs && node.dueAt < 101 + limitMs)
    assert.deepEqual(node.check(101 + limitMs), { why: 'idle', ms: limitMs + 1 })
  }
})

test('TI-6 a node asks after two late requests in a row, not after one', () => {
  for (const [rule, limitMs] of [
    [front, 500],
    [middle, 700],
  ] as const) {
    const node = new SelfEnding(rule, 0)
    // The first request has no predecessor.
    assert.equal(node.arrived(900), undefined)
    assert.equal(node.arrived(900 + limitMs + 1), undefined)
    assert.deepEqual(node.arrived(900 + 2 * (limitMs + 1)), { why: 'slow', ms: limitMs + 1 })
  }
})

test('TI-6 a request in time restarts the count, and so does having asked', () => {
  const node = new SelfEnding(middle, 0)
  const times = [0, 701, 1401, 2102, 2803, 3504, 4205]
  assert.deepEqual(
    times.map((at) => node.arrived(at)?.why ?? '-'),
    // The third arrives exactly at the limit.
    ['-', '-', '-', '-', 'slow', '-', 'slow'],
  )
})

test('TI-6 a working node is not idle, and one that asked asks again after the same time', () => {
  const node = new SelfEnding(middle, 0)
  node.arrived(0)
  node.holds(2, 0)
  assert.equal(node.dueAt, Infinity)
  node.holds(1, 5000)
  assert.equal(node.check(6000), undefined)
  node.holds(0, 6000)
  assert.equal(node.check(8000), undefined)
  assert.equal(node.check(8001)?.why, 'idle')
  assert.equal(node.check(9000), undefined)
  assert.equal(node.check(10_002)?.why, 'idle')
})
