import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ContractError } from '../lib/errors.ts'
import { chain } from './chain.ts'
import { constant } from './constant.ts'
import { memo } from './memo.ts'
import { priorMemory, priorWork } from './prior.ts'
import { ruleEstimator } from './rules-estimator.ts'
import { question } from './testing/question.ts'

function estimatorOf(workPerCpuMs: number) {
  return ruleEstimator({
    work: () => chain(memo(), constant(), priorWork(workPerCpuMs)),
    memory: () => chain(memo(), constant(), priorMemory()),
  })
}

test('a workload without measurements has a prior, a wide interval and a reason', () => {
  const { work, low, high, source, reason, memoryMb } = estimatorOf(1000).estimate(question())
  assert.deepEqual({ work, source, memoryMb }, { work: 100_000, source: 'prior', memoryMb: 64 })
  assert.deepEqual(reason, { code: 'never-seen', cpuMs: 100 })
  assert.ok(low < work && work < high)
})

test('work and memory are learned per workload', () => {
  const estimator = estimatorOf(1000)
  const [one, other] = [question({ n: 1 }, { workload: 'one' }), question({ n: 1 }, { workload: 'other' })]
  estimator.learn(one, { work: 500, peakMemoryMb: 20 })
  const { work, memoryMb, source } = estimator.estimate(one)
  assert.deepEqual({ work, memoryMb, source }, { work: 500, memoryMb: 20, source: 'memo' })
  assert.equal(estimator.estimate(other).source, 'prior')
  assert.equal(estimator.estimate(question({ n: 2 }, { workload: 'one' })).source, 'similar')
})

test('invalid measurements are dropped, for each quantity separately', () => {
  const estimator = estimatorOf(1000)
  for (const value of [NaN, -5, 0, Infinity]) {
    estimator.learn(question(), { work: value, peakMemoryMb: value })
    estimator.learn(question(), { work: value, peakMemoryMb: 30 })
  }
  const { work, memoryMb } = estimator.estimate(question())
  assert.deepEqual([work, memoryMb], [100_000, 30])
})

test('an interval is finite, however wide the spread of the rule', () => {
  const unsure = {
    guess: () => ({
      value: 1e308,
      spread: { below: 1e3, above: 1e3 },
      source: 'model' as const,
      reason: { code: 'made-up' },
    }),
    learn() {},
  }
  const { low, high } = ruleEstimator({ work: () => unsure, memory: () => unsure }).estimate(question())
  assert.ok(low > 1e301 && low < 1e303, `${low}`)
  assert.equal(high, Number.MAX_VALUE)
})

test('intervals narrow to the measured spread', () => {
  const estimator = estimatorOf(1000)
  const wide = estimator.estimate(question())
  for (let i = 0; i < 100; i++) {
    estimator.learn(question({ i }), { work: 1000 + (i % 10), peakMemoryMb: 20 })
  }
  const { work, low, high } = estimator.estimate(question({ i: 'new' }))
  assert.ok(wide.high / wide.low > 100)
  assert.ok(low <= work && work <= high && high / low < 1.5, `${low} ${work} ${high}`)
})

test('a chain without any guess is a contract error', () => {
  const mute = { guess: () => undefined, learn() {} }
  const estimator = ruleEstimator({ work: () => mute, memory: () => mute })
  assert.throws(() => estimator.estimate(question()), ContractError)
})
