import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stream } from '../lib/random.ts'
import { chain } from './chain.ts'
import { constant } from './constant.ts'
import { inlineFitter } from './learned/fitter.ts'
import { learned } from './learned.ts'
import { memo } from './memo.ts'
import { priorMemory, priorWork } from './prior.ts'
import { ruleEstimator } from './rules-estimator.ts'
import { question } from './testing/question.ts'

/** Work by the only parameter of a workload. */
const costs = {
  'with the square': (n: number) => 1e4 + 50 * n ** 2,
  'in proportion': (n: number) => 1e5 + 3e5 * n,
  exponentially: (n: number) => 1e5 + 20 * 1.618 ** n,
}

/** The estimator of a cluster after these requests, whose costs vary by one per cent. */
async function after(requests: readonly number[], cost: (n: number) => number) {
  const model = learned({ fitter: inlineFitter() })
  const work = () => chain(memo(), model, constant(), priorWork(8e6))
  const estimator = ruleEstimator({ work, memory: () => priorMemory() })
  const noise = stream(1, 'noise')
  for (const n of requests) {
    estimator.learn(question({ n }), { work: cost(n) * (0.99 + 0.02 * noise.next()), peakMemoryMb: 50 })
    await model.settled()
  }
  return estimator
}

const draw = stream(1, 'one parameter')
const random = Array.from({ length: 20 }, () => 1 + 2 * draw.below(20))
const ramp = Array.from({ length: 20 }, (_, i) => 5 + 2 * i)

for (const [how, cost] of Object.entries(costs)) {
  test(`after 20 requests intervals are useful if costs grow ${how}`, async () => {
    const estimator = await after(random, cost)
    for (const n of [16, 24, 32]) {
      const { low, high } = estimator.estimate(question({ n }))
      assert.ok(low <= cost(n) && cost(n) <= high, `${n}: ${cost(n)} is not in ${low} to ${high}`)
      assert.ok(high / low < 60, `${n}: ${low} to ${high}`)
    }
  })

  test(`an interval beyond growing requests stays bounded if costs grow ${how}`, async () => {
    const { low, high } = (await after(ramp, cost)).estimate(question({ n: 46 }))
    assert.ok(low <= cost(46) && cost(46) <= high && high / low < 1000, `${low} to ${high}`)
  })
}

test('equal requests say little about others', async () => {
  const estimator = await after(Array(20).fill(30), costs['in proportion'])
  const [same, other] = [30, 45].map((n) => estimator.estimate(question({ n })))
  assert.ok(same!.high / same!.low < 1.2)
  assert.ok(other!.low < costs['in proportion'](45) && costs['in proportion'](45) < other!.high)
  assert.equal(other!.unproven, true)
})

test('requests of a narrow range say little about requests far outside it', async () => {
  // Costs with steps, as those of a sieve: within the range they look curved.
  const cost = (n: number) => 80 * n + 40 * Math.floor(n / 37)
  const estimator = await after(
    Array.from({ length: 60 }, (_, i) => 5000 + 2 * i),
    cost,
  )
  const near = estimator.estimate(question({ n: 5061 }))
  assert.ok(near.high / near.low < 1.2, `${near.low} to ${near.high}`)
  for (const n of [1000, 50_000, 1_000_000, 40_000_000]) {
    const { low, high, unproven } = estimator.estimate(question({ n }))
    assert.ok(low <= cost(n) && cost(n) <= high, `${n}: ${cost(n)} is not in ${low} to ${high}`)
    assert.equal(unproven, n > 10_000 ? true : undefined, `${n}: ${low} to ${high}`)
  }
})
