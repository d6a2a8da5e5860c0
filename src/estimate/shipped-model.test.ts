import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Ledger } from '../ledger/ledger.ts'
import { clusterEstimator } from './cluster-estimator.ts'
import { fitModel, type Model } from './learned/fit.ts'
import { read } from './reading.ts'
import { readShipped, shippedText } from './shipped-model.ts'
import { question } from './testing/question.ts'

/** Work grows with the square of `n`. */
const workOf = (n: number) => 50 * n ** 2
const rows = Array.from({ length: 40 }, (_, i) => {
  const n = 10 + 7 * i
  return { reading: read({ n }), log: Math.log(workOf(n)), doubt: 1 }
})
const model: Model = fitModel(rows, { posts: 32 })!

/** An empty ledger that stores nothing. */
const ledger = {
  warm: async () => [],
  snapshots: async () => [],
  saveSnapshot() {},
} as unknown as Ledger

async function started(measuredCode: string) {
  const estimator = clusterEstimator({ workPerCpuMs: 1000, ledger, log: assert.fail })
  estimator.start('made-up', measuredCode, model)
  await estimator.warm('made-up')
  return estimator
}

test('a model file is read as it was written', () => {
  const text = shippedText({ workload: 'w', code: ['a', 'b'], workPerMs: 4000, model })
  const shipped = readShipped(text)!
  assert.deepEqual([shipped.workload, shipped.code, shipped.workPerMs], ['w', ['a', 'b'], 4000])
  assert.equal(shipped.model.rows, model.rows)
  assert.equal(shippedText(shipped), text)
})

test('invalid model files are rejected', () => {
  const fields = JSON.parse(shippedText({ workload: 'w', code: ['a'], workPerMs: 4000, model }))
  const wrong = [
    { version: 2 },
    { workload: 3 },
    { code: 'a' },
    { code: [1] },
    { workPerMs: -1 },
    { work: {} },
  ]
  for (const change of wrong) assert.equal(readShipped(JSON.stringify({ ...fields, ...change })), undefined)
  for (const text of ['', '{', 'null', '[]']) assert.equal(readShipped(text), undefined)
})

test('the first estimate of a workload that comes with a model is close and proven', async () => {
  const estimator = await started('code')
  const { work, low, high, source, unproven } = estimator.estimate(question({ n: 100 }))
  assert.equal(source, 'model')
  assert.equal(unproven, undefined)
  assert.ok(Math.abs(Math.log(work / workOf(100))) < 0.05, `${work}`)
  assert.ok(high / low < 1.5, `${low} to ${high}`)
  await estimator.close()
})

test('a model of other code is a starting point that must prove itself', async () => {
  const estimator = await started('older code')
  assert.equal(estimator.estimate(question({ n: 100 })).unproven, true)
  // The new code needs three times the work.
  for (let n = 20; n < 120; n += 10)
    estimator.learn(question({ n }), { work: 3 * workOf(n), peakMemoryMb: 50 })
  const { work, unproven } = estimator.estimate(question({ n: 155 }))
  assert.equal(unproven, undefined)
  assert.ok(Math.abs(Math.log(work / (3 * workOf(155)))) < 0.3, `${work}`)
  await estimator.close()
})
