import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chain } from './chain.ts'
import { constant } from './constant.ts'
import { memo } from './memo.ts'
import { priorWork } from './prior.ts'
import { question } from './testing/question.ts'

test('the first rule with a guess decides, and all rules learn', () => {
  const rule = chain(memo(), constant(), priorWork(10))
  const [small, large, other] = [question({ n: 1 }), question({ n: 2 }), question({ n: 3 })]
  assert.equal(rule.guess(other)?.reason.code, 'never-seen')
  rule.learn(small, 10)
  rule.learn(large, 1000)
  assert.deepEqual(
    [small, large, other].map((q) => [rule.guess(q)?.reason.code, Math.round(rule.guess(q)!.value)]),
    [
      ['memo', 10],
      ['memo', 1000],
      ['geometric-mean', 100],
    ],
  )
})

test('an empty chain has no guess', () => {
  const rule = chain()
  rule.learn(question(), 1)
  assert.equal(rule.guess(question()), undefined)
})
