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

/** A guess of 100, adjusted after requests that all took `factor` times as long as estimated. */
function after(count: number, factor: number, spread?: number): number {
  const drift = new Drift()
  for (let i = 1; i <= count; i++) drift.learn(guess(i, spread), i * factor)
  return drift.adjust(guess(100)).value
}

test('a change of speed is followed within a few requests', () => {
  assert.ok(Math.abs(after(5, 2) - 200) < 10)
  assert.ok(Math.abs(after(5, 0.5) - 50) < 3)
})

test('an uncertain guess barely moves the drift', () => {
  assert.ok(after(1, 2, 3) < 105)
})

test('one outlier is clipped', () => {
  assert.ok(after(1, 1000) < 310)
})

test('measurements are converted to the usual speed for learning', () => {
  const drift = new Drift()
  for (let i = 0; i < 5; i++) drift.learn(guess(10), 20)
  const factor = drift.adjust(guess(1)).value
  assert.equal(drift.atUsualSpeed(20), 20 / factor)
})

test('memos are adjusted but not learned from; priors are not adjusted', () => {
  const drift = new Drift()
  drift.learn(guess(10, 0.1, 'memo'), 20)
  assert.equal(drift.adjust(guess(10)).value, 10)
  drift.learn(guess(10), 20)
  assert.ok(drift.adjust(guess(10, 0.1, 'memo')).value > 15)
  assert.equal(drift.adjust(guess(10, 0.1, 'prior')).value, 10)
})
