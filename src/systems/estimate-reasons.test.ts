import assert from 'node:assert/strict'
import { test } from 'node:test'
import { constant } from '../estimate/constant.ts'
import { memo } from '../estimate/memo.ts'
import { priorMemory, priorWork } from '../estimate/prior.ts'
import { question } from '../estimate/testing/question.ts'
import type { Features } from '../model/estimate.ts'
import { rankMemo } from './cloudprime/rank-memo.ts'
import { logPolynomial } from './cnv/log-polynomial.ts'
import { slopes } from './ecowork/slopes.ts'
import { similarRequests } from './hillclimbing/similar-requests.ts'
import { explainEstimate } from './reasons.ts'

const rules = [
  memo,
  constant,
  rankMemo,
  similarRequests,
  slopes,
  priorMemory,
  () => priorWork(1),
  logPolynomial,
]

test('every reason of every rule has a text without missing numbers', () => {
  for (const make of rules) {
    for (const rows of [0, 1, 2, 300]) {
      const rule = make()
      const features = (i: number): Features => ({
        n: (i % 17) + 1,
        size: i + 1,
        kind: i % 2 === 0 ? 'a' : 'b',
      })
      for (let i = 0; i < rows; i++) rule.learn(question(features(i)), 10 + i)
      for (const asked of [features(1), features(5000)]) {
        const guess = rule.guess(question(asked))
        if (guess) assert.doesNotMatch(explainEstimate(guess.reason), /undefined|NaN|[{}]/)
      }
    }
  }
})

test('CN-4 the heuristic says that it goes by parameters', () => {
  assert.match(
    explainEstimate({ code: 'rough', instCount: 5, totalAccesses: 1 }),
    /formula of its parameters/,
  )
})

test('the text of a model names its family, rows and nearest request', () => {
  assert.equal(
    explainEstimate({ code: 'learned', family: 'surface', rows: 120, likeness: 0.97 }),
    'model (surface) fitted to 120 requests; the nearest is 97 % similar',
  )
})

test('an unknown reason is shown as code and numbers', () => {
  assert.equal(explainEstimate({ code: 'new-rule', rows: 5 }), 'new-rule {"rows":5}')
})
