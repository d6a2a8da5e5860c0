import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Overheads } from './overheads.ts'

/** Work per millisecond. */
const nominal = 1000

test('overhead is what the fast requests take besides their work', () => {
  const overheads = new Overheads(nominal)
  for (let i = 0; i < 40; i++) overheads.learn('w', { work: 2000, wallMs: 7 + (i % 4) * 100 }, nominal)
  assert.deepEqual(overheads.of('w'), { low: 5, expected: 5, high: 205, work: 5000 })
})

test('quotes count from the learned rate, the brain from the nominal one', () => {
  const overheads = new Overheads(nominal)
  // The workload runs at half the nominal rate: 2,000 units take 4 ms.
  for (let i = 0; i < 8; i++) overheads.learn('w', { work: 2000, wallMs: 5 }, nominal / 2)
  assert.equal(overheads.of('w').expected, 1)
  assert.equal(overheads.of('w').work, 3000)
})

test('a workload without measurements has the overhead of all workloads', () => {
  const overheads = new Overheads(nominal)
  const before = overheads.of('new')
  assert.ok(before.expected > 0 && before.work > 0)
  for (let i = 0; i < 8; i++) overheads.learn('w', { work: 0, wallMs: 9 }, nominal)
  assert.equal(overheads.of('new').expected, 9)
})

test('invalid measurements are dropped, and requests faster than their rate have no overhead', () => {
  const overheads = new Overheads(nominal)
  const before = overheads.of('w')
  for (const work of [-1, NaN, Infinity]) overheads.learn('w', { work, wallMs: 5 }, nominal)
  for (const wallMs of [-1, 0, NaN, Infinity]) overheads.learn('w', { work: 1, wallMs }, nominal)
  overheads.learn('w', { work: 1, wallMs: 5 }, 0)
  assert.deepEqual(overheads.of('w'), before)
  overheads.learn('w', { work: 9000, wallMs: 5 }, nominal)
  assert.deepEqual(overheads.of('w'), { low: 0, expected: 0, high: 0, work: 0 })
})

test('old requests are forgotten', () => {
  const overheads = new Overheads(nominal)
  for (let i = 0; i < 64; i++) overheads.learn('w', { work: 0, wallMs: 20 }, nominal)
  for (let i = 0; i < 64; i++) overheads.learn('w', { work: 0, wallMs: 4 }, nominal)
  assert.equal(overheads.of('w').high, 4)
})
