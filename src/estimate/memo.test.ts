import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memo } from './memo.ts'
import { question } from './testing/question.ts'

test('only an equal request of the same code is remembered', () => {
  const rule = memo()
  rule.learn(question({ n: 7 }), 42)
  const spread = { below: 0.1, above: 0.1 }
  const once = { value: 42, spread, source: 'memo', reason: { code: 'memo', repeats: 1 } }
  assert.deepEqual(rule.guess(question({ n: 7 })), once)
  assert.equal(rule.guess(question({ n: 8 })), undefined)
  assert.equal(rule.guess(question({ n: 7 }, { codeHash: 'newer' })), undefined)
})

test('the spread is that of the repeats', () => {
  const rule = memo()
  const asked = question({ n: 7 })
  for (const value of [100, 100]) rule.learn(asked, value)
  assert.equal(rule.guess(asked)?.spread?.above, 0)
  const noisy = question({ n: 8 })
  for (let i = 0; i < 200; i++) rule.learn(noisy, i % 2 ? 90 : 110)
  const { value, spread } = rule.guess(noisy)!
  assert.ok(Math.abs(value - 100) < 3, String(value))
  assert.ok(Math.abs(spread!.above - 0.105) < 0.01, JSON.stringify(spread))
})

test('the first repeats are averaged, and drift is followed', () => {
  const rule = memo()
  const asked = question()
  for (const value of [10, 20, 60]) rule.learn(asked, value)
  assert.equal(rule.guess(asked)?.value, 30)
  for (let i = 0; i < 20; i++) rule.learn(asked, 1000)
  assert.ok(rule.guess(asked)!.value > 980)
})

test('the least recently used request is evicted', () => {
  const rule = memo({ keys: 2 })
  for (const n of [1, 2]) rule.learn(question({ n }), n)
  rule.guess(question({ n: 1 }))
  rule.learn(question({ n: 3 }), 3)
  assert.deepEqual(
    [1, 2, 3].map((n) => rule.guess(question({ n }))?.value),
    [1, undefined, 3],
  )
})
