import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failureCode, overloaded, refusal, retryAfter } from './problem.ts'

test('clients are told whole seconds, from one to an hour', () => {
  const told = [-5, 0, 1, 1000, 1001, 90_000, 1e9, Infinity].map((ms) =>
    Number(retryAfter(ms)['retry-after']),
  )
  assert.deepEqual(told, [1, 1, 1, 1, 2, 90, 3600, 3600])
})

test('a rejection has the time that its reason names, whatever its status', () => {
  const headersOf = (code: string, facts = {}) => refusal({ code, ...facts }).headers
  assert.deepEqual(headersOf('queue-full', { retryAfterMs: 12_345 }), { 'retry-after': '13' })
  assert.deepEqual(headersOf('no-time', { retryAfterMs: 2_000 }), { 'retry-after': '2' })
  assert.deepEqual(headersOf('no-time'), {})
  assert.deepEqual(headersOf('overloaded', { retryAfterMs: 4_000 }), overloaded(4_000).headers)
})

test('failures that are for the client keep their code', () => {
  assert.deepEqual(['limit', 'cost-limit', 'error'].map(failureCode), [
    'limit',
    'cost-limit',
    'workload-error',
  ])
})
