import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { MemoryJobStore } from '../store/memory.ts'
import { noBody, order, startKeeper } from './testing/keeper-stand.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

test('an open job takes less than 800 bytes of memory', async (t) => {
  // A store that keeps its jobs elsewhere.
  const store = Object.assign(new MemoryJobStore(), { accept: async () => ({ kind: 'accepted' }) as const })
  const stand = await startKeeper(t, store, 0, undefined, { jobs: 1e6, bytes: 2 ** 40, clientShare: 1 })
  const keepMany = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const quote = { seconds: { expected: i / 7, low: i / 9, high: i / 5 }, waitSeconds: i / 3 }
      await stand.keeper.keep(order({ client: `client ${i % 20}`, target: `/w?n=${i}`, quote }), noBody)
    }
    collect()
    return process.memoryUsage().heapUsed
  }
  const before = await keepMany(500)
  const jobs = 20_000
  const bytes = ((await keepMany(jobs)) - before) / jobs
  t.diagnostic(`${Math.round(bytes)} bytes`)
  assert.ok(bytes < 800, `${bytes} bytes`)
})
