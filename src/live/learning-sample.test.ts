import assert from 'node:assert/strict'
import test from 'node:test'
import { LearningSample, mostPerSecond } from './learning-sample.ts'

/** The number of jobs taken in each second, at this rate. */
function taken(sample: LearningSample, perSecond: number, seconds: number, from = 0): number[] {
  return Array.from({ length: seconds }, (_, second) => {
    const times = Array.from({ length: perSecond }, (_, i) => (from + second) * 1000 + (i * 1000) / perSecond)
    return times.filter((at) => sample.takes('w', at)).length
  })
}

test('all jobs of a workload up to the rate are taken', () => {
  assert.deepEqual(taken(new LearningSample(1), mostPerSecond, 5), Array(5).fill(mostPerSecond))
})

test('of more jobs about as many are taken, also in a burst', () => {
  const [burst, ...others] = taken(new LearningSample(1), 5_000, 10)
  assert.ok(burst! < 5 * mostPerSecond, `${burst}`)
  for (const count of others) assert.ok(count > mostPerSecond / 2 && count < mostPerSecond * 2, `${count}`)
})

test('a workload that calms down is taken completely again, and others are not affected', () => {
  const sample = new LearningSample(1)
  taken(sample, 5_000, 2)
  assert.equal(sample.takes('other', 2_000), true)
  assert.deepEqual(taken(sample, 10, 3, 2).slice(1), [10, 10])
})

test('the same jobs are taken with the same seed', () => {
  const chosen = (seed: number) => {
    const sample = new LearningSample(seed)
    return Array.from({ length: 5_000 }, (_, i) => sample.takes('w', i / 2))
  }
  assert.deepEqual(chosen(7), chosen(7))
  assert.notDeepEqual(chosen(7), chosen(8))
})
