import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryJobStore } from '../store/memory.ts'
import { Quota, type QuotaLimits, requestBytes } from './quota.ts'
import { KeeperProblem } from './responses.ts'
import { noBody, order, settle, startKeeper } from './testing/keeper-stand.ts'

const roomy: QuotaLimits = { jobs: 1_000, bytes: 2 ** 30, clientShare: 1 }

function limited(limits: Partial<QuotaLimits>, jobMs = 2_000) {
  const clock = { now: 0 }
  const quota = new Quota(
    { ...roomy, ...limits },
    () => jobMs,
    () => clock.now,
  )
  return { quota, clock }
}

const retryS = (problem: KeeperProblem | undefined) => Number(problem?.fields['retry-after'])

test('no more jobs are open than allowed, until one ends', () => {
  const { quota } = limited({ jobs: 2 })
  const first = quota.take('a', 10)
  quota.take('b', 10)
  const refusal = quota.refusal('c', 10)
  assert.deepEqual([refusal?.status, refusal?.code], [503, 'kept-jobs-full'])
  assert.deepEqual(refusal?.facts, { limit: 'open-jobs', most: 2, have: 2 })
  assert.match(refusal!.message, /--open-jobs/)
  quota.giveBack(first, 10)
  assert.equal(quota.refusal('c', 10), undefined)
})

test('one client has a share of the jobs and of the space, and others have the rest', () => {
  const { quota } = limited({ jobs: 4, bytes: 1_000, clientShare: 0.5 })
  quota.take('a', 10)
  quota.take('a', 10)
  const byJobs = quota.refusal('a', 10)
  assert.deepEqual([byJobs?.status, byJobs?.code], [429, 'too-many-kept-jobs'])
  assert.deepEqual(byJobs?.facts, { limit: 'open-jobs', client: 'a', most: 2, have: 2 })
  assert.equal(quota.refusal('b', 10), undefined)
  quota.take('b', 450)
  const bySpace = quota.refusal('b', 100)
  assert.deepEqual(bySpace?.facts, { limit: 'open-space', client: 'b', most: 500, have: 450 })
  const never = quota.refusal('c', 501)
  assert.deepEqual([never?.status, never?.code, never?.fields], [413, 'kept-request-too-large', {}])
  assert.equal(quota.refusal('c', 500), undefined)
})

test('the time to try again is that in which jobs end, or are expected to end', () => {
  const { quota, clock } = limited({ jobs: 10 })
  const taken = Array.from({ length: 10 }, () => quota.take('a', 10))
  const before = retryS(quota.refusal('b', 10))
  assert.ok(before >= 2 && before <= 3, `${before}: one job is expected to end every 2 s`)
  // Six a minute.
  for (let i = 0; i < 60; i++) {
    clock.now += 10_000
    quota.giveBack(taken.shift()!, 10)
    taken.push(quota.take('a', 10))
  }
  const later = retryS(quota.refusal('b', 10))
  assert.ok(later >= 9 && later <= 14, `${later}`)
  // Half of what ends is the client's own.
  const { quota: shared } = limited({ jobs: 5, clientShare: 0.4 })
  for (const client of ['a', 'a', 'b', 'b']) shared.take(client, 10)
  const own = retryS(shared.refusal('a', 10))
  assert.ok(own >= 4 && own <= 5, `${own}`)
})

test('a keeper refuses what is above its limits, stores nothing of it, and accepts again when a job ends', async (t) => {
  const store = new MemoryJobStore()
  const stand = await startKeeper(t, store, 10, undefined, { ...roomy, jobs: 1 })
  const kept = await stand.keeper.keep(order(), noBody)
  await assert.rejects(stand.keeper.keep(order(), noBody), KeeperProblem)
  assert.equal((await store.list({ limit: 10 })).jobs.length, 1)
  ;(await stand.sentUntil(1)).answer('done')
  await kept!.ended()
  assert.ok(await stand.keeper.keep(order(), noBody))
})

test('a repeat of an accepted request is never refused', async (t) => {
  const stand = await startKeeper(t, undefined, 10, undefined, { ...roomy, jobs: 1 })
  const keyed = order({ idempotency: { key: 'k', fingerprint: 'f' } })
  const first = await stand.keeper.keep(keyed, noBody)
  const repeat = await stand.keeper.keep(keyed, noBody)
  assert.deepEqual([repeat!.id, repeat!.isRepeat], [first!.id, true])
})

test('room is given back after cancels, refusals of the store and repeats', async (t) => {
  const store = new MemoryJobStore()
  const stand = await startKeeper(t, store, 10, undefined, { ...roomy, jobs: 2 })
  const keyed = (fingerprint: string) => order({ idempotency: { key: 'k', fingerprint } })
  const first = await stand.keeper.keep(keyed('f'), noBody)
  for (let i = 0; i < 5; i++) {
    await stand.keeper.keep(keyed('f'), noBody)
    assert.equal(await stand.keeper.keep(keyed('another'), noBody), undefined)
  }
  const failing = t.mock.method(store, 'accept', () => Promise.reject(new Error('full')))
  for (let i = 0; i < 5; i++) await assert.rejects(stand.keeper.keep(order(), noBody), /full/)
  failing.mock.restore()
  await stand.keeper.keep(order(), noBody)
  await assert.rejects(stand.keeper.keep(order(), noBody), KeeperProblem)
  await stand.keeper.cancel(first!.id, {})
  await settle()
  assert.ok(await stand.keeper.keep(order(), noBody))
})

test('the jobs of an earlier keeper count, also beyond the limits', async (t) => {
  const stand = await startKeeper(t)
  for (let i = 0; i < 3; i++) await stand.keeper.keep(order(), noBody)
  stand.keeper.close()
  const next = await startKeeper(t, stand.store, 10, undefined, { ...roomy, jobs: 3 })
  await next.sentUntil(3)
  await assert.rejects(next.keeper.keep(order(), noBody), KeeperProblem)
})

test('a request takes its body, its fields and its target', () => {
  const bytes = requestBytes({ target: '/w', fields: [] }, 1_000)
  const more = requestBytes({ target: '/w?n=1', fields: [['x-a', 'b'.repeat(100)]] }, 2_000)
  assert.ok(bytes >= 1_000 && more - bytes >= 1_000 + 100, `${bytes} ${more}`)
})
