import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleRow } from '../../ledger/testing/samples.ts'
import { tableOf } from './rows.ts'

const quantities = JSON.stringify({ instCount: 274, totalAccesses: 62 })

test('CN-3 a row has id, type, hash of parameters, parameters, both metrics, start and end', () => {
  const parameters = JSON.stringify({ size: '16', iterations: '1' })
  const times = { startedAt: 1000, endedAt: 2500 }
  const [row, ...others] = tableOf([
    sampleRow(1, { workload: 'grayscott', parameters, quantities, ...times }),
  ])
  assert.deepEqual(others, [])
  const { id, sortKey, ...rest } = row!
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.match(sortKey, /^[0-9a-f]{64}$/)
  assert.deepEqual(rest, {
    type: 'GRAYSCOTT',
    parameters: { size: '16', iterations: '1' },
    metrics: { instCount: 274, totalAccesses: 62 },
    startTime: '1970-01-01T00:00:01.000Z',
    endTime: '1970-01-01T00:00:02.500Z',
  })
})

test('CN-3 equal requests of a type share one row, the newest, whatever the order of parameters', () => {
  const of = (n: number, workload: string, parameters: object) =>
    sampleRow(n, { workload, parameters: JSON.stringify(parameters), quantities })
  const rows = tableOf([
    of(3, 'julia', { b: 2, a: 1 }),
    of(2, 'julia', { a: 1, b: 2 }),
    of(1, 'dna', { a: 1, b: 2 }),
  ])
  assert.deepEqual(
    rows.map(({ type }) => type),
    ['FRACTAL', 'DNA'],
  )
  assert.equal(rows[0]!.sortKey, rows[1]!.sortKey)
  assert.deepEqual(rows[0]!.parameters, { b: 2, a: 1 })
})

test('rows of other workloads, of failures and without both metrics are left out', () => {
  const odd = [
    sampleRow(1, { workload: 'shop', quantities }),
    sampleRow(2, { workload: 'dna', outcome: 'error', quantities }),
    sampleRow(3, { workload: 'dna' }),
  ]
  assert.deepEqual(tableOf(odd), [])
})
