import assert from 'node:assert/strict'
import test from 'node:test'
import { rollWorkers } from './roll-workers.ts'

test('a worker that still boots with the old code is replaced after it has joined', async () => {
  const workers: string[] = []
  let looks = 0
  const steps = rollWorkers(
    {
      bootMs: 60_000,
      workers: () => workers.map((id) => ({ id, launch: id })),
      booting() {
        if (++looks > 2) return []
        if (looks === 2) workers.push('old')
        return ['old']
      },
      isThere: (worker) => workers.includes(worker),
      drain: (worker) => workers.splice(workers.indexOf(worker), 1, 'new'),
      fleet: {
        ...{ prepare: async () => {}, release() {}, hasSpare: () => false, drop: () => false },
        list: async () => [],
      },
    },
    new Set(['old']),
    () => 'spare',
  )
  assert.deepEqual(await Array.fromAsync(steps), [{ worker: 'old', by: 'new' }])
})
