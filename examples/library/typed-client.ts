/** A client that knows the parameters and results of workloads: node examples/library/typed-client.ts */

import { createClient, createCluster, InvalidRequestError, OverloadedError } from 'plimsoll'
import type primes from './workloads/primes.ts'

await using cluster = await createCluster({ workloads: import.meta.resolve('./workloads/primes.ts'), max: 1 })
await using client = createClient<typeof primes>(cluster, { deadlineMs: 60_000 })

const quote = await client.estimate('primes', { n: 5000 })
console.log(`expected: ${quote.work.toExponential(1)} units of work, because: ${quote.why}`)

const { result, work, attempts } = await client.request('primes', { n: 5000 })
console.log(
  `${result.count} primes below ${result.n}, in ${attempts} attempt, ${work !== undefined ? 'metered' : 'not metered'}`,
)

try {
  await client.request('primes', { n: -1 })
} catch (error) {
  if (error instanceof OverloadedError) console.log(`try again in ${error.retryAfterMs} ms`)
  else if (error instanceof InvalidRequestError) console.log(`${error.status} ${error.code}: ${error.detail}`)
  else throw error
}

const hurry = AbortSignal.timeout(1)
const outcome = await client
  .request('primes', { n: 10_000_000 }, { signal: hurry })
  .catch((error: Error) => error.name)
console.log(`the last request ended with ${outcome}`)
