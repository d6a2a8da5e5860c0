import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EstimateErrors } from './errors.ts'

const miss = (job: string, estimated: number, measured: number) => ({ job, estimated, measured })

test('too high and too low count alike, and the worst request is named', () => {
  const errors = new EstimateErrors()
  errors.learn('search', miss('a', 100, 50))
  assert.deepEqual(errors.of('search'), {
    requests: 1,
    medianFactor: 2,
    worst: { ...miss('a', 100, 50), factor: 2 },
  })
  errors.learn('search', miss('b', 52e6, 2261e6))
  errors.learn('search', miss('c', 40, 40))
  const { requests, medianFactor, worst } = errors.of('search')!
  assert.deepEqual([requests, medianFactor, worst.job], [3, 2, 'b'])
  assert.ok(Math.abs(worst.factor - 43.48) < 0.01)
  errors.learn('search', miss('d', 10, 40))
  assert.equal(errors.of('search')!.medianFactor, 3)
})

test('only recent requests count, of each workload apart', () => {
  const errors = new EstimateErrors()
  errors.learn('search', miss('old', 1, 1000))
  errors.learn('draw', miss('other', 1, 8))
  for (let i = 0; i < 100; i++) errors.learn('search', miss(`j${i}`, 10, 11))
  assert.deepEqual(Object.keys(errors.all()), ['draw', 'search'])
  const { requests, worst } = errors.of('search')!
  assert.deepEqual([requests, worst.factor], [100, 1.1])
  assert.equal(errors.all().draw!.worst.factor, 8)
})

test('amounts that cannot be compared are ignored', () => {
  const errors = new EstimateErrors()
  errors.learn('nothing', miss('a', 0, 0))
  errors.learn('nothing', miss('b', 5, 0))
  assert.equal(errors.of('nothing'), undefined)
  assert.deepEqual(errors.all(), {})
})
