import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { StoreError } from '../lib/errors.ts'
import { MemoryJobStore } from '../store/memory.ts'
import { keepAll } from '../store/testing/samples.ts'
import { Keeper } from './keeper.ts'
import type { KeeperParts } from './keeper-parts.ts'
import type { JobResponse } from './send-job.ts'

const order = {
  ...{ workload: 'w', client: 'c', isRepeatable: true, method: 'POST', target: '/w', fields: [] },
  ...{ quote: {}, waitMs: 0 },
}

const unknown = () => new StoreError('the connection to the database broke', 'STORE_UNKNOWN')

/** A store whose next calls of a method fail; `written`: they are carried out nevertheless. */
function failNext(store: MemoryJobStore, method: 'accept' | 'cancel', times: number, written: boolean): void {
  const real = store[method].bind(store) as (...args: unknown[]) => Promise<never>
  let left = times
  Object.assign(store, {
    [method]: async (...args: unknown[]) => {
      if (left-- <= 0) return real(...args)
      if (written) await real(...args)
      throw unknown()
    },
  })
}

async function startKeeper(
  t: TestContext,
  store: MemoryJobStore,
): Promise<{ keeper: Keeper; sent: string[] }> {
  const lease = await store.lead('test', 1_000)
  const sent: string[] = []
  const send: NonNullable<KeeperParts['send']> = ({ job, signal }) => {
    sent.push(job.target)
    return new Promise<JobResponse>((_, reject) =>
      signal.addEventListener('abort', () => reject(new Error())),
    )
  }
  const keeper = new Keeper({
    cores: () => 2,
    ...{ store, epoch: lease!.epoch, fronts: () => [1], token: 't', most: 10, send },
    limits: { jobs: 100, bytes: 2 ** 30, clientShare: 1 },
    retention: keepAll,
    ...{ now: () => 0, random: () => 0.5, log() {}, fenced() {} },
  })
  await keeper.start()
  t.after(() => keeper.close())
  return { keeper, sent }
}

const turns = async (t: TestContext, ms: number) => {
  for (let passed = 0; passed < ms; passed += 50) {
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
    t.mock.timers.tick(50)
  }
}

for (const written of [true, false]) {
  test(`a request whose storing has an unknown outcome is stored again, ${written ? 'if it was' : 'if it was not'} written`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const store = new MemoryJobStore()
    const { keeper, sent } = await startKeeper(t, store)
    failNext(store, 'accept', 2, written)
    const keeping = keeper.keep(order, Buffer.from('body'))
    await turns(t, 1_000)
    const kept = await keeping
    assert.equal((await store.job(kept!.id))?.state, 'open')
    assert.equal((await store.list({ limit: 10 })).jobs.length, 1)
    assert.equal(sent.length, 1)
  })
}

test('a job that was written although its client was told that the store fails runs', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const store = new MemoryJobStore()
  const { keeper, sent } = await startKeeper(t, store)
  failNext(store, 'accept', 4, true)
  const keeping = assert.rejects(keeper.keep(order, Buffer.from('body')), { code: 'STORE_UNKNOWN' })
  await turns(t, 2_000)
  await keeping
  await turns(t, 2_000)
  assert.equal(sent.length, 1)
})

test('a body that arrived in parts is looked for in the store, since it cannot be stored again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const store = new MemoryJobStore()
  const { keeper } = await startKeeper(t, store)
  failNext(store, 'accept', 1, true)
  const parts = (async function* () {
    yield Buffer.from('one, ')
    yield Buffer.from('two')
  })()
  const keeping = keeper.keep(order, parts)
  await turns(t, 500)
  const body = await store.body((await keeping)!.id)
  assert.equal(Buffer.concat(await Array.fromAsync(body!)).toString(), 'one, two')
})

test('a cancel of unknown outcome is repeated, and ends the attempt', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const store = new MemoryJobStore()
  const { keeper, sent } = await startKeeper(t, store)
  const kept = await keeper.keep(order, Buffer.alloc(0))
  await turns(t, 50)
  failNext(store, 'cancel', 1, true)
  const cancelling = keeper.cancel(kept!.id, {})
  await turns(t, 500)
  await cancelling
  await kept!.ended()
  assert.equal((await store.job(kept!.id))?.state, 'cancelled')
  await turns(t, 60_000)
  assert.equal(sent.length, 1)
})
