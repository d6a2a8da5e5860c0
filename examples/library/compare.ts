/** Policies compared on the same jobs: node examples/library/compare.ts */

import { compare } from 'plimsoll'

const { traffic, policies } = await compare({
  policies: ['round-robin', 'least-connections', 'least-work', 'srpt'],
  ...{ workers: 2, cores: 2, load: 0.9, sizes: 'lognormal', jobs: 20_000, seeds: 3 },
})
console.log(`${traffic.jobs} jobs at load ${traffic.load}, medians of three seeds`)
for (const { name, meanResponseMs, p99Slowdown } of policies)
  console.log(
    `${name.padEnd(18)} mean ${(meanResponseMs / 1000).toFixed(2)} s, slowdown p99 ${p99Slowdown.toFixed(1)}`,
  )
