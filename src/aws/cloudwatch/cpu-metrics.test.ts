import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type MetricQuery, readCpu } from './cpu-metrics.ts'

test('the newest data point counts, and an instance without one is left out', async () => {
  const api = {
    cpu: async () => [
      { id: 'm0', values: [40, 90] },
      { id: 'm1', values: [] },
      { id: 'm2', values: [0] },
      { id: 'm3', values: [100.4] },
    ],
  }
  const shares = await readCpu(api, ['i-1', 'i-2', 'i-3', 'i-4', 'i-5'], 0)
  assert.deepEqual(
    [...shares],
    [
      ['i-1', 0.4],
      ['i-3', 0],
      ['i-4', 1],
    ],
  )
})

test('500 instances are asked for in one call, the others in the next ones', async () => {
  const sizes: number[] = []
  const api = {
    async cpu(queries: readonly MetricQuery[]) {
      sizes.push(queries.length)
      return queries.map(({ id, instance }) => ({ id, values: [Number(instance)] }))
    },
  }
  const shares = await readCpu(api, Array.from({ length: 1001 }, (_, i) => `${i % 100}`).map(String), 0)
  assert.deepEqual(sizes, [500, 500, 1])
  assert.equal(shares.get('7'), 0.07)
})
