/** A cluster inside a program: node examples/library/program.ts */

import { createCluster } from 'plimsoll'

await using cluster = await createCluster({
  workloads: import.meta.resolve('./workloads/primes.ts'),
  max: 2,
  log: (line) => console.error(line),
})
const answers = await Promise.all(
  [1000, 2000, 3000].map(async (n) => (await fetch(`${cluster.url}/primes?n=${n}`)).json()),
)
console.log(JSON.stringify(answers))

const { counters, workers } = cluster.state()
console.log(`${counters.results} results by ${workers.length > 0 ? 'real workers' : 'nobody'}`)
