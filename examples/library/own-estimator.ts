/** An estimator of one's own, simulated and live: node examples/library/own-estimator.ts */

import { createClient, createCluster, type EstimatorFactory, simulate } from 'plimsoll'

/** The simulation's estimate, corrected by how far off the recent ones were. */
export const corrected: EstimatorFactory = () => {
  let factor = 1
  return {
    name: 'corrected',
    estimate({ features }) {
      const work = Math.max(1, Number(features.seconds) * 1e6 * factor)
      return { work, low: work / 3, high: work * 3 }
    },
    learn({ features }, { work }) {
      factor = 0.99 * factor + 0.01 * (work / (Number(features.seconds) * 1e6))
    },
  }
}

/** Work grows with n × √n; the constant is learned. */
export const primesCost: EstimatorFactory = () => {
  let perStep = 10
  const steps = (n: unknown) => Math.max(1, Number(n) ** 1.5)
  return {
    name: 'primes-cost',
    estimate({ features }) {
      const work = perStep * steps(features.n)
      return {
        work,
        low: work / 2,
        high: work * 2,
        reason: { code: 'steps', text: `${perStep.toFixed(2)} units a step` },
      }
    },
    learn({ features }, { work }) {
      perStep = (perStep + work / steps(features.n)) / 2
    },
  }
}

if (import.meta.main) {
  const { meanSlowdown } = await simulate({ jobs: 20_000, estimator: corrected })
  console.log(`slowdown ${meanSlowdown.toFixed(2)} with corrected estimates`)

  await using cluster = await createCluster({
    workloads: import.meta.resolve('./workloads/primes.ts'),
    ...{ max: 1, estimator: primesCost },
  })
  await using client = createClient(cluster)
  const before = await client.estimate('primes', { n: 10_000 })
  await client.request('primes', { n: 5_000 })
  const after = await client.estimate('primes', { n: 10_000 })
  console.log(`before: ${before.why}; after one job: ${after.why}`)
}
