import assert from 'node:assert/strict'
import { test } from 'node:test'
import { question } from '../../estimate/testing/question.ts'
import { rankMemo } from './rank-memo.ts'

const factorize = (n: string) => question({ divisions: 7 }, { workload: 'factorize', params: { n }, key: n })

test('CP-6 an unknown number is its own rank', () => {
  const reason = { code: 'the-number-itself', number: 983_732 }
  assert.deepEqual(rankMemo().guess(factorize('983732')), { value: 983_732, source: 'prior', reason })
})

test('CP-6 a known rank takes precedence over the number', () => {
  const rule = rankMemo()
  rule.learn(factorize('983732'), 5000)
  assert.equal(rule.guess(factorize('983732'))?.value, 5000)
  assert.equal(rule.guess(factorize('983732'))?.source, 'memo')
  assert.equal(rule.guess(factorize('983733'))?.value, 983_733)
})

test('CP-6 for other workloads the size is the rank, and without a number there is none', () => {
  const rule = rankMemo()
  assert.equal(rule.guess(question({ width: 30, height: 20, kind: 'a' }))?.value, 600)
  assert.equal(rule.guess(question({ kind: 'a' })), undefined)
})
