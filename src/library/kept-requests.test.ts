import assert from 'node:assert/strict'
import test from 'node:test'
import { createClient } from './client/client.ts'
import { createCluster } from './cluster.ts'

const workloads = import.meta.resolve('./fixtures/sums.ts')

test('a client that waits for a kept job is told where it is when the cluster closes', async () => {
  const cluster = await createCluster({ workloads, min: 1, max: 1, stopAfter: 0 })
  await using client = createClient(cluster)
  const waiting = client.request('sleeps', {}, { headers: { prefer: 'wait=600' } })
  while (cluster.state().jobs === 0) await new Promise((resolve) => setImmediate(resolve))
  await cluster.close()
  const { status, headers, result } = await waiting
  assert.deepEqual([status, headers.location], [202, `/-/jobs/${(result as { id: string }).id}`])
})

test('a client gets the results of requests that the cluster keeps for their length', async () => {
  await using cluster = await createCluster({ workloads, min: 1, max: 1, stopAfter: 0, asyncAbove: '1ms' })
  await using client = createClient(cluster)
  const { status, result } = await client.request('sum', { n: 1000 })
  assert.deepEqual([status, (result as { sum: number }).sum], [200, 499500])
})
