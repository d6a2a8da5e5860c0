/** A cluster inside a test: node --test examples/library/in-a-test.test.ts */

import assert from 'node:assert/strict'
import test from 'node:test'
import { createClient, createCluster } from 'plimsoll'
import type primes from './workloads/primes.ts'

test('counts the primes below a hundred', async () => {
  await using cluster = await createCluster({
    workloads: import.meta.resolve('./workloads/primes.ts'),
    ...{ min: 1, max: 1 },
  })
  await using client = createClient<typeof primes>(cluster)
  const { result } = await client.request('primes', { n: 100 })
  assert.equal(result.count, 25)
})
