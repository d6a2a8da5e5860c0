import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JobStore, Retention } from '../store.ts'
import { answerOf, idsOf, keepAll, type MakeSubject, newJob, openLed, range, startedAt } from './samples.ts'

/** Bodies have no bytes, results have 100. */
async function finish(store: JobStore, epoch: number, numbers: number[]): Promise<void> {
  for (const number of numbers) {
    await store.accept(epoch, newJob(number, { body: Buffer.alloc(0) }))
    await store.answer(epoch, `job-${number}`, answerOf(number, { body: Buffer.alloc(100), endedAt: number }))
  }
}

async function kept(store: JobStore): Promise<string[]> {
  const { jobs } = await store.list({ limit: 1_000 })
  return jobs.filter(({ answer }) => answer?.isKept).map(({ id }) => id)
}

function removedResults(name: string, make: MakeSubject): void {
  test(`${name}: a sweep removes results that are too old, and open jobs never`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    await finish(store, epoch, [1, 2, 3])
    await store.accept(epoch, newJob(9, { acceptedAt: 0 }))
    assert.equal(await store.sweep(epoch, 102, { ...keepAll, keepMs: 100 }), 1)
    assert.deepEqual(await kept(store), ['job-3', 'job-2'])
    assert.equal(await store.result('job-1'), undefined)
    assert.equal(await store.body('job-1'), undefined)
    assert.deepEqual((await store.job('job-1'))?.answer, { status: 200, bytes: 100, isKept: false })
    assert.equal(
      await store.sweep(epoch, startedAt, { ...keepAll, keepMs: 0, keepBytes: 0, rememberMs: 0 }),
      2,
    )
    assert.deepEqual(await idsOf((await store.list({ limit: 9 })).jobs), ['job-9'])
    assert.ok(await store.body('job-9'))
  })

  test(`${name}: a sweep removes the oldest results above the limit of bytes`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    await finish(store, epoch, [4, 2, 3, 1])
    assert.equal(await store.sweep(epoch, 10, { ...keepAll, keepBytes: 400 }), 0)
    assert.equal(await store.sweep(epoch, 10, { ...keepAll, keepBytes: 399 }), 1)
    assert.deepEqual(await kept(store), ['job-3', 'job-2', 'job-4'])
    assert.equal(await store.sweep(epoch, 10, { ...keepAll, keepBytes: 150 }), 2)
    assert.deepEqual(await kept(store), ['job-4'])
    assert.equal(await store.sweep(epoch, 10, { ...keepAll, keepBytes: 99 }), 1)
  })

  test(`${name}: bodies of jobs that have ended count, and go with the results`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    for (const number of [1, 2]) await store.accept(epoch, newJob(number, { body: Buffer.alloc(100) }))
    await store.cancel(epoch, 'job-1', 1)
    await store.answer(epoch, 'job-2', answerOf(2, { body: Buffer.alloc(100), endedAt: 2 }))
    assert.ok(await store.body('job-1'))
    assert.equal(await store.sweep(epoch, 10, { ...keepAll, keepBytes: 299 }), 0)
    assert.equal(await store.body('job-1'), undefined)
    assert.ok(await store.body('job-2'))
    assert.ok(await store.job('job-1'))
  })
}

function forgottenJobs(name: string, make: MakeSubject): void {
  test(`${name}: jobs are forgotten when they are not to be remembered any more`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    await finish(store, epoch, [1, 2, 3])
    await store.accept(epoch, newJob(4, { webhook: 'https://x.test/' }))
    await store.cancel(epoch, 'job-4', 1)
    assert.equal(
      await store.sweep(epoch, 103, { ...keepAll, keepMs: 10, keepBytes: 1_000, rememberMs: 100 }),
      3,
    )
    assert.deepEqual(
      await idsOf((await store.list({ limit: 9 })).jobs),
      ['job-4', 'job-3'],
      'the webhook waits',
    )
    assert.equal(
      await store.sweep(epoch, 103, { ...keepAll, keepMs: 10, keepBytes: 1_000, rememberMs: 100 }),
      0,
    )
    await store.noteWebhook(epoch, 'job-4', { url: 'https://x.test/', state: 'given-up', tries: 9 })
    await store.sweep(epoch, 200, { ...keepAll, keepMs: 10, keepBytes: 1_000, rememberMs: 100 })
    assert.deepEqual((await store.list({ limit: 9 })).jobs, [])
  })

  test(`${name}: jobs whose results are kept are not forgotten`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    await finish(store, epoch, [1])
    assert.equal(
      await store.sweep(epoch, 50, { ...keepAll, keepMs: 100, keepBytes: 1_000, rememberMs: 10 }),
      0,
    )
    assert.deepEqual(await kept(store), ['job-1'])
  })

  test(`${name}: one sweep removes everything that is due, while jobs are accepted`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    await Promise.all(range(700).map((number) => finish(store, epoch, [number])))
    const sweep = store.sweep(epoch, 10_000, { ...keepAll, keepMs: 0, keepBytes: 0, rememberMs: 9_650 })
    const [removed] = await Promise.all([sweep, store.accept(epoch, newJob(1_000))])
    assert.equal(removed, 700)
    assert.deepEqual(await kept(store), [])
    const { jobs } = await store.list({ limit: 1_000 })
    assert.equal(jobs.length, 351)
  })
}

const limits = (rememberJobs: number, rememberBytes = Infinity): Retention => ({
  ...keepAll,
  ...{ rememberJobs, rememberBytes },
})

async function ids(store: JobStore): Promise<string[]> {
  return idsOf((await store.list({ limit: 1_000 })).jobs)
}

/** Limits of the number and space of jobs that have ended. */
export function limitedJobsContract(name: string, make: MakeSubject): void {
  test(`${name}: above the limit of ended jobs, the oldest are forgotten, with results and keys`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    const idempotency = { key: 'key', fingerprint: 'same' }
    await store.accept(epoch, newJob(0, { idempotency }))
    await store.answer(epoch, 'job-0', answerOf(0, { endedAt: 2 }))
    await finish(store, epoch, [4, 3, 1])
    for (const number of [8, 9]) await store.accept(epoch, newJob(number, { acceptedAt: 0 }))
    assert.equal(await store.sweep(epoch, 10, limits(4)), 0)
    assert.equal(await store.sweep(epoch, 10, limits(3)), 1)
    assert.deepEqual(await ids(store), ['job-9', 'job-8', 'job-3', 'job-4', 'job-0'])
    assert.equal((await store.byKey('client', 'key'))?.id, 'job-0')
    assert.equal(await store.sweep(epoch, 10, limits(1)), 2)
    assert.deepEqual(await ids(store), ['job-9', 'job-8', 'job-4'])
    assert.equal(await store.result('job-0'), undefined)
    assert.equal(await store.byKey('client', 'key'), undefined)
    assert.deepEqual(await store.accept(epoch, newJob(10, { idempotency })), { kind: 'accepted' })
    assert.deepEqual(await idsOf(store.open()), ['job-8', 'job-9', 'job-10'])
  })

  test(`${name}: of jobs that ended at the same time, those accepted first are forgotten`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    for (const number of [3, 1, 2]) await store.accept(epoch, newJob(number))
    for (const number of [1, 2, 3]) await store.cancel(epoch, `job-${number}`, 5)
    await store.sweep(epoch, 10, limits(2))
    assert.deepEqual(await ids(store), ['job-2', 'job-1'])
  })

  test(`${name}: rows of ended jobs are forgotten above the limit of their space`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    const fields = [['x-long', 'ü'.repeat(5_000)]] as const
    for (const number of [1, 2, 3]) {
      const { request } = newJob(number)
      await store.accept(epoch, newJob(number, { request: { ...request, ...(number === 2 && { fields }) } }))
      await store.answer(epoch, `job-${number}`, answerOf(number, { endedAt: number }))
    }
    await store.sweep(epoch, 10, limits(Infinity, 14_000))
    assert.equal((await ids(store)).length, 3)
    await store.sweep(epoch, 10, limits(Infinity, 10_000))
    assert.deepEqual(await ids(store), ['job-3'], 'the long row had to go, and an older one goes first')
    await store.sweep(epoch, 10, limits(Infinity, 500))
    assert.deepEqual(await ids(store), [])
  })

  test(`${name}: webhooks that still wait do not keep jobs above the limit`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    for (const number of [1, 2]) {
      await store.accept(epoch, newJob(number, { webhook: 'https://x.test/' }))
      await store.cancel(epoch, `job-${number}`, number)
    }
    await store.sweep(epoch, 10, limits(1))
    assert.deepEqual(await idsOf(await store.waitingWebhooks(9)), ['job-2'])
  })

  test(`${name}: one sweep forgets all jobs above the limit, while jobs end`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    await Promise.all(range(650).map((number) => finish(store, epoch, [number])))
    const sweep = store.sweep(epoch, 10_000, limits(20))
    const [removed] = await Promise.all([sweep, finish(store, epoch, [1_000])])
    assert.ok(removed === 630 || removed === 631, `${removed} results were removed`)
    assert.deepEqual(await kept(store), await ids(store))
    assert.equal((await ids(store))[0], 'job-1000')
  })
}

export function retentionContract(name: string, make: MakeSubject): void {
  removedResults(name, make)
  forgottenJobs(name, make)
}
