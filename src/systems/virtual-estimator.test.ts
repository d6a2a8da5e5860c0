/** Presets' estimators in virtual time, on requests as they were recorded. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Question } from '../estimate/estimator.ts'
import type { EstimatorSpec } from './estimators.ts'
import { presetOf } from './presets.ts'
import { type VirtualEstimator, virtualEstimator } from './virtual-estimator.ts'

const quantities = ['instCount', 'totalAccesses']
const specs: Record<string, EstimatorSpec | undefined> = {
  learned: undefined,
  'rank-memo': { rule: 'rank-memo', max: 1e9 },
  'log-polynomial': { rule: 'log-polynomial', quantities },
  'similar-requests': { rule: 'similar-requests', unknown: 1e6 },
  slopes: { rule: 'slopes' },
}

function questionOf(number: number): Question {
  const n = 10 + ((number * 37) % 500)
  const params = { n }
  return { workload: 'made-up', codeHash: 'recorded', key: `${number}`, params, features: params }
}

/** 300 units for each n, of which a third are accesses to memory. */
async function learn(estimator: VirtualEstimator, number: number): Promise<number> {
  const question = questionOf(number)
  const work = 300 * (question.params as { n: number }).n
  const amounts = { instCount: (2 * work) / 3, totalAccesses: work / 3 }
  const { work: estimate } = estimator.estimate(question)
  estimator.learn(question, { work, peakMemoryMb: 0, quantities: amounts })
  await estimator.settled()
  return Math.max(estimate / work, work / estimate)
}

for (const [name, spec] of Object.entries(specs))
  test(`${name}: a repeated request is known after the first, in virtual time`, async () => {
    const estimator = virtualEstimator(spec, 1000)
    for (let number = 0; number < 60; number++) await learn(estimator, number)
    if (name !== 'slopes') assert.ok((await learn(estimator, 20)) < 1.001)
  })

for (const name of ['learned', 'log-polynomial', 'slopes'])
  test(`${name}: models are built from the measurements of the run`, async () => {
    const estimator = virtualEstimator(specs[name], 1000)
    const errors: number[] = []
    for (let number = 0; number < 120; number++) errors.push(await learn(estimator, number))
    assert.ok(Math.max(...errors.slice(0, 3)) > 2)
    assert.ok(Math.max(...errors.slice(100)) < 1.2, `${Math.max(...errors.slice(100))}`)
  })

test('CP-6 a number that was never seen is its own rank, also in virtual time', () => {
  const estimator = virtualEstimator(presetOf('cloudprime').estimator, 1000)
  const params = { n: '999985999949' }
  const question = { ...questionOf(0), workload: 'factorize', params, features: {} }
  assert.equal(estimator.estimate(question).work, 999_985_999_949)
})
