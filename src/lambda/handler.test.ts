import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHandler } from './handler.ts'

test('a handler that cannot serve its workloads fails at its start', async () => {
  await assert.rejects(createHandler({ workloads: [] }), /^ConfigError: workloads = : must name at least one/)
  await assert.rejects(
    createHandler({ workloads: ['echo'], memoryMb: 128 }),
    /^ConfigError: memoryMb = 128: must be at least 208$/,
  )
  await assert.rejects(
    createHandler({ preset: 'cnv', only: 'foxes-rabbits' }),
    /^ConfigError: PLIMSOLL_ONLY = foxes-rabbits: no such workload in /,
  )
  await assert.rejects(createHandler({ preset: 'plimsoll', only: 'none' }), /no such workload in .*cnv|julia/)
})
