import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { JobStore, Lease } from '../store.ts'
import {
  answerOf,
  idsOf,
  keepAll,
  type MakeSubject,
  newJob,
  range,
  rejectsWith,
  startedAt,
} from './samples.ts'

async function begin(store: JobStore, holder: string, ttlMs = 60_000): Promise<Lease> {
  const lease = await store.lead(holder, ttlMs)
  assert.ok(lease, `${holder} leads`)
  return lease
}

/** The store's clock decides, so a test can only ask again. */
async function beginLater(store: JobStore, holder: string): Promise<Lease> {
  for (;;) {
    const lease = await store.lead(holder, 60_000)
    if (lease) return lease
    await delay(5)
  }
}

async function opened(t: TestContext, make: MakeSubject): Promise<JobStore> {
  const store = await (await make(t)).open()
  t.after(() => store.close())
  return store
}

function leases(name: string, make: MakeSubject): void {
  test(`${name}: a lease keeps other leaders out until it is released`, async (t) => {
    const store = await opened(t, make)
    const first = await begin(store, 'first')
    assert.equal(await store.lead('second', 60_000), undefined)
    assert.equal(await first.renew(60_000), true)
    await first.release()
    const second = await begin(store, 'second')
    assert.ok(second.epoch > first.epoch)
    assert.equal(await first.renew(60_000), false)
    await first.release()
    assert.equal(await store.lead('third', 60_000), undefined, 'a former leader cannot release the lease')
    assert.ok((await begin(store, 'second')).epoch > second.epoch, 'the same holder may begin again')
  })

  test(`${name}: another leader begins when a lease has run out`, async (t) => {
    const store = await opened(t, make)
    const first = await begin(store, 'first', 1)
    const second = await beginLater(store, 'second')
    assert.ok(second.epoch > first.epoch)
    assert.equal(await first.renew(60_000), false)
  })

  test(`${name}: a leader whose lease ran out may write until another one begins`, async (t) => {
    const store = await opened(t, make)
    const first = await begin(store, 'first', 0)
    await store.accept(first.epoch, newJob(1))
    assert.equal(await first.renew(0), true)
    await begin(store, 'second')
    await rejectsWith(store.accept(first.epoch, newJob(2)), 'STORE_FENCED', /epoch \d+ must not write/)
  })
}

function fencing(name: string, make: MakeSubject): void {
  test(`${name}: every write of an older epoch is fenced off`, async (t) => {
    const store = await opened(t, make)
    const { epoch } = await begin(store, 'first')
    const url = 'https://x.test/'
    await store.accept(epoch, newJob(1, { webhook: url }))
    await begin(store, 'first')
    const writes = [
      () => store.accept(epoch, newJob(2)),
      () => store.accept(epoch, newJob(3, { body: Buffer.alloc(200_000) })),
      () => store.accept(epoch, newJob(1)),
      () => store.answer(epoch, 'job-1', answerOf(1)),
      () => store.cancel(epoch, 'job-1', startedAt),
      () => store.noteWebhook(epoch, 'job-1', { url, state: 'given-up', tries: 3 }),
      () => store.sweep(epoch, startedAt, keepAll),
    ]
    for (const write of writes) await rejectsWith(write(), 'STORE_FENCED', /a newer leader has begun/)
    assert.deepEqual(await idsOf(store.open()), ['job-1'])
    assert.equal((await store.job('job-1'))?.webhook?.state, 'waiting')
    await rejectsWith(store.accept(99, newJob(4)), 'STORE_FENCED', /no leader has begun with this epoch/)
  })

  test(`${name}: of two leaders that write at once, the older one writes nothing any more`, async (t) => {
    const store = await opened(t, make)
    const old = await begin(store, 'old')
    const writes = range(40).map((number) =>
      store.accept(old.epoch, newJob(number)).then(
        () => true,
        () => false,
      ),
    )
    await begin(store, 'old')
    const before = await idsOf(store.open())
    const late = range(40, 40).map((number) =>
      store.accept(old.epoch, newJob(number)).then(
        () => true,
        () => false,
      ),
    )
    const written = await Promise.all(writes)
    assert.deepEqual(
      await Promise.all(late),
      late.map(() => false),
    )
    const after = await idsOf(store.open())
    assert.deepEqual(after, before, 'what the new leader reads is final')
    assert.equal(after.length, written.filter(Boolean).length)
  })
}

export function leaderContract(name: string, make: MakeSubject): void {
  leases(name, make)
  fencing(name, make)
}
