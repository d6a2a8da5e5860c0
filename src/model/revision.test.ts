import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectationAfter, firstExpectation } from './revision.ts'

/** An interval for costs whose logarithms are spread by sigma. */
const spread = (work: number, sigma: number) => ({ work, high: work * Math.exp(1.645 * sigma) })
/** The remaining work, as `expectationAfter` estimates it. */
const left = (work: number, sigma: number, done: number) =>
  expectationAfter(spread(work, sigma), done).expected - done

test('before a job begins, its prediction holds; the wider the interval, the less it is expected to need', () => {
  assert.equal(firstExpectation({ work: 100 }).expected, 100)
  assert.ok(Math.abs(firstExpectation(spread(100, 0.1)).expected - 100) < 5)
  const unsure = [2, 2.5, 3].map((sigma) => firstExpectation(spread(100, sigma)).expected)
  assert.ok(unsure[0]! < 100 && unsure[1]! < unsure[0]! && unsure[2]! < unsure[1]!, unsure.join())
})

test('without an interval, a job that exceeds its estimate by half is assumed to be half done', () => {
  assert.deepEqual(firstExpectation({ work: 100 }), { expected: 100, reviseAt: 150 })
  assert.deepEqual(expectationAfter({ work: 100 }, 149), { expected: 100, reviseAt: 150 })
  assert.deepEqual(expectationAfter({ work: 100 }, 150), { expected: 300, reviseAt: 300 })
  assert.deepEqual(expectationAfter({ work: 0 }, 5), { expected: 10, reviseAt: 10 })
})

test('with a narrow interval the remaining work is the estimate less the work done', () => {
  for (const done of [10, 50, 80]) assert.ok(Math.abs(left(100, 0.1, done) - (100 - done)) < 5)
})

test('a job far beyond its interval is assumed to be half done', () => {
  assert.equal(left(100, 0.1, 150), 150)
  assert.equal(left(100, 0.5, 1000), 1000)
})

test('a job at its estimate is not expected to end at once', () => {
  // The index of costs around 100 with sigma 0.5.
  for (const done of [80, 100, 150, 200]) assert.ok(left(100, 0.5, done) > 50 && left(100, 0.5, done) < 65)
})

test('with a wide interval the remaining work grows with the work done', () => {
  let before = 0
  for (let done = 5; done < 1e6; done *= 1.3) {
    const now = left(100, 2, done)
    assert.ok(now > before, `${now} after ${done}, ${before} before`)
    before = now
  }
})

test('a job with a wide interval that outlives its expectation is revised, however small a part of its estimate it has done', () => {
  const { expected, reviseAt } = expectationAfter(spread(1e6, 8), 100)
  assert.ok(expected < 1e5 && reviseAt <= expected, `${reviseAt} and ${expected}`)
  assert.ok(reviseAt >= 120, 'not after every unit')
})

test('the index is the minimum of work spent per job that ends', () => {
  // By brute force, over costs drawn from the interval's distribution.
  const [work, sigma, done] = [100, 1, 60]
  const costs = Array.from(
    { length: 20_000 },
    (_, i) => work * Math.exp(sigma * quantile((i + 0.5) / 20_000)),
  )
  const going = costs.filter((cost) => cost > done)
  let least = Infinity
  for (let until = done * 1.01; until < work * 50; until *= 1.02) {
    const spent = going.reduce((sum, cost) => sum + Math.min(cost, until) - done, 0)
    const ends = going.filter((cost) => cost <= until).length
    if (ends > 0) least = Math.min(least, spent / ends)
  }
  assert.ok(Math.abs(left(work, sigma, done) / least - 1) < 0.03, `${left(work, sigma, done)}, not ${least}`)
})

test('revisions become ever rarer, and the next one is always later than now', () => {
  for (const prediction of [
    { work: 100 },
    spread(100, 0.1),
    spread(100, 0.5),
    spread(100, 3),
    { work: 0 },
    { work: 0, high: 0 },
  ]) {
    let { reviseAt } = firstExpectation(prediction)
    let times = 0
    for (; reviseAt < 1e7; times++) {
      const next = expectationAfter(prediction, Math.max(1, reviseAt))
      assert.ok(next.reviseAt > reviseAt && next.expected >= reviseAt && next.expected < Infinity)
      reviseAt = next.reviseAt
    }
    assert.ok(times < 100, `${times} times`)
  }
})

/** The normal distribution's quantile, by bisection. */
function quantile(p: number): number {
  let [low, high] = [-8, 8]
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2
    if (normal(middle) < p) low = middle
    else high = middle
  }
  return low
}

/** The share of a normal distribution below z, by adding up its density. */
function normal(z: number): number {
  let term = z
  let sum = z
  for (let n = 1; n < 200; n++) {
    term *= (z * z) / (2 * n + 1)
    sum += term
  }
  return 0.5 + (sum * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI)
}
