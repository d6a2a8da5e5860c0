import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Drift } from './drift.ts'
import type { Guess } from './estimator.ts'

const guess = (value: number, spread = 0.1, source: Guess['source'] = 'model'): Guess => ({
  value,
  spread: { below: spread, above: spread },
  source,
  reason: { code: 'learned' },
})

/** What a guess of 100 amounts to after requests that all took `factor` times as long as their models said. */
function after(count: number, factor: number, spread?: number): number {
  const drift = new Drift()
  for (let i = 1; i <= count; i++) drift.learn(guess(i, spread), i * factor)
  return drift.adjust(guess(100)).value
}

test('a machine that has become slower is followed within a few requests', () => {
  assert.ok(Math.abs(after(5, 2) - 200) < 10)
  assert.ok(Math.abs(after(5, 0.5) - 50) < 3)
})

test('what models are not sure of says little of the machine', () => {
  assert.ok(after(1, 2, 3) < 105)
})

test('one request that is far off is not taken for the machine', () => {
  assert.ok(after(1, 1000) < 310)
})

test('what rules learn is what a cost would be at the usual speed', () => {
  const drift = new Drift()
  for (let i = 0; i < 5; i++) drift.learn(guess(10), 20)
  const factor = drift.adjust(guess(1)).value
  assert.equal(drift.usual(20), 20 / factor)
})

test('what is remembered of a request is adjusted, and teaches nothing; what is made up is left alone', () => {
  const drift = new Drift()
  drift.learn(guess(10, 0.1, 'memo'), 20)
  assert.equal(drift.adjust(guess(10)).value, 10)
  drift.learn(guess(10), 20)
  assert.ok(drift.adjust(guess(10, 0.1, 'memo')).value > 15)
  assert.equal(drift.adjust(guess(10, 0.1, 'prior')).value, 10)
})
