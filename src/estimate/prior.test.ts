import assert from 'node:assert/strict'
import { test } from 'node:test'
import { priorMemory, priorWork } from './prior.ts'
import { question } from './testing/question.ts'

test('a workload without measurements: 100 ms of work and the memory of a slot', () => {
  const work = { value: 50_000, source: 'prior', reason: { code: 'never-seen', cpuMs: 100 } }
  assert.deepEqual(priorWork(500).guess(question()), work)
  const memory = { value: 64, source: 'prior', reason: { code: 'never-seen', memoryMb: 64 } }
  assert.deepEqual(priorMemory().guess(question()), memory)
})

test('an invalid rate is rejected by name', () => {
  for (const rate of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    const message = `workPerCpuMs = ${rate}: must be a finite number above 0`
    assert.throws(() => priorWork(rate), { code: 'CONFIG', message })
  }
})
