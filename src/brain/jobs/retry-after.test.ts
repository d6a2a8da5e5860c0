import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ExpectedReturns, longestMs, msToDo, toldMs } from './retry-after.ts'

test('work takes its time at the rate of the fleet', () => {
  assert.equal(msToDo(4000, { workPerSecond: 2000, coming: [] }), 2000)
  assert.equal(msToDo(0, { workPerSecond: 2000, coming: [] }), 0)
})

test('a worker that is booting helps from the time when it joins', () => {
  // 1 s alone does 1000 units; the other 4000 take 2 s at twice the rate.
  const fleet = { workPerSecond: 1000, coming: [{ inMs: 1000, workPerSecond: 1000 }] }
  assert.equal(msToDo(5000, fleet), 3000)
  // Work that is done before is not delayed by it.
  assert.equal(msToDo(500, fleet), 500)
})

test('an empty fleet does nothing before its first worker joins', () => {
  const coming = [
    { inMs: 9000, workPerSecond: 1000 },
    { inMs: 5000, workPerSecond: 1000 },
  ]
  assert.equal(msToDo(1000, { workPerSecond: 0, coming }), 6000)
  assert.equal(msToDo(0, { workPerSecond: 0, coming }), 5000)
  assert.equal(msToDo(1, { workPerSecond: 0, coming: [] }), Infinity)
  assert.equal(msToDo(1e9, { workPerSecond: 0, coming: [{ inMs: 7000, workPerSecond: Infinity }] }), 7000)
})

test('more work never takes less time, and more workers never take longer', () => {
  const amount = fc.integer({ min: 0, max: 1e6 })
  const coming = fc.array(
    fc.record({ inMs: fc.integer({ min: 0, max: 1e6 }), workPerSecond: fc.integer({ min: 1, max: 1e6 }) }),
    { maxLength: 5 },
  )
  fc.assert(
    fc.property(amount, amount, amount, coming, (work, more, workPerSecond, all) => {
      const fleet = { workPerSecond, coming: all }
      const ms = msToDo(work, fleet)
      assert.ok(msToDo(work + more, fleet) >= ms - 1e-6)
      const another = { inMs: 10, workPerSecond: 500 }
      assert.ok(msToDo(work, { workPerSecond, coming: [...all, another] }) <= Math.max(ms, 10) + 1e-6)
    }),
  )
})

test('a wait is never shorter than needed, and never longer than an hour', () => {
  for (const number of [0, 1, 2, 3]) {
    const told = toldMs(100_000, number)
    assert.ok(told >= 100_000 && told <= 125_000)
  }
  assert.deepEqual([toldMs(-5, 3), toldMs(Infinity, 3)], [0, longestMs])
})

test('requests that are rejected one after another are told later times, until the fleet had time for them', () => {
  const returns = new ExpectedReturns()
  const waits = [0, 0, 0, 1000, 9000].map((now) => {
    const before = returns.workAt(now, 1000)
    returns.add(2000, 10_000)
    return before
  })
  assert.deepEqual(waits, [0, 2000, 4000, 5000, 0])
  for (let i = 0; i < 100; i++) returns.add(2000, 10_000)
  assert.equal(returns.workAt(9000, 1000), 10_000)
})
