import assert from 'node:assert/strict'
import { test } from 'node:test'
import { constant } from './constant.ts'
import { question } from './testing/question.ts'

test('every request gets the geometric mean of all measurements, with their spread', () => {
  const rule = constant()
  assert.equal(rule.guess(question()), undefined)
  rule.learn(question({ n: 1 }), 10)
  assert.equal(rule.guess(question())?.spread, undefined)
  rule.learn(question({ n: 2 }), 1000)
  const { value, spread, source, reason } = rule.guess(question({ n: 3 }))!
  assert.ok(Math.abs(value - 100) < 1e-9)
  assert.ok(Math.abs(spread!.below - Math.log(10) * Math.SQRT2) < 1e-9)
  assert.equal(source, 'similar')
  assert.deepEqual(reason, { code: 'geometric-mean', rows: 2 })
})
