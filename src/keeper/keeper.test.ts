import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryJobStore } from '../store/memory.ts'
import type { JobStore } from '../store/store.ts'
import { noBody, order, resultOf, type Sent, settle, startKeeper } from './testing/keeper-stand.ts'

test('a request is accepted only when it is stored, and sent only then', async (t) => {
  const memory = new MemoryJobStore()
  const written = Promise.withResolvers<void>()
  const slow = Object.assign(Object.create(memory) as JobStore, {
    accept: async (...args: Parameters<JobStore['accept']>) => {
      await written.promise
      return memory.accept(...args)
    },
    lead: memory.lead.bind(memory),
    open: memory.open.bind(memory),
    job: memory.job.bind(memory),
  })
  const stand = await startKeeper(t, slow)
  let isAccepted = false
  const kept = stand.keeper.keep(order(), noBody).then((it) => {
    isAccepted = true
    return it
  })
  await settle()
  assert.deepEqual([isAccepted, stand.sent.length], [false, 0])
  written.resolve()
  await kept
  await stand.sentUntil(1)
})

test('a job has ended when its answer is stored', async (t) => {
  const stand = await startKeeper(t)
  const kept = await stand.keeper.keep(order(), Buffer.from('body'))
  const sent = await stand.sentUntil(1)
  assert.deepEqual(Buffer.concat(await Array.fromAsync(sent.body!)).toString(), 'body')
  sent.answer('done')
  await kept!.ended()
  assert.equal(await resultOf(stand, kept!.id), 'done')
})

test('a refusal that passes is not the answer: the job is sent again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const stand = await startKeeper(t)
  const kept = await stand.keeper.keep(order(), noBody)
  ;(await stand.sentUntil(1)).answer('full', 'queue-full')
  await settle()
  assert.equal(stand.keeper.standing(kept!.id)?.waitsFor, 'queue-full')
  t.mock.timers.tick(60_000)
  ;(await stand.sentUntil(2)).answer('done')
  await kept!.ended()
  assert.equal(await resultOf(stand, kept!.id), 'done')
})

test('a refusal that would come again is the answer', async (t) => {
  const stand = await startKeeper(t)
  const kept = await stand.keeper.keep(order(), noBody)
  ;(await stand.sentUntil(1)).answer('late', 'deadline')
  await kept!.ended()
  assert.equal((await stand.store.job(kept!.id))?.answer?.status, 503)
})

test('a job that is cut off is sent again, unless it must not be repeated', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const stand = await startKeeper(t)
  const again = await stand.keeper.keep(order(), noBody)
  ;(await stand.sentUntil(1)).breakOff()
  await settle()
  t.mock.timers.tick(60_000)
  ;(await stand.sentUntil(2)).answer('done')
  await again!.ended()
  const once = await stand.keeper.keep(order({ isRepeatable: false }), noBody)
  ;(await stand.sentUntil(3)).breakOff()
  await once!.ended()
  t.mock.timers.tick(60_000)
  await settle()
  assert.equal(stand.sent.length, 3)
  assert.match((await resultOf(stand, once!.id))!, /outcome-unknown/)
})

test('the next keeper goes on with what is open, and with nothing else', async (t) => {
  const stand = await startKeeper(t)
  const [done, open, once, waiting] = await Promise.all([
    stand.keeper.keep(order({ target: '/done' }), noBody),
    stand.keeper.keep(order({ target: '/open' }), noBody),
    stand.keeper.keep(order({ target: '/once', isRepeatable: false }), noBody),
    stand.keeper.keep(order({ target: '/once-later', isRepeatable: false }), noBody),
  ])
  await stand.sentUntil(4)
  const ofTarget = (target: string, all: Sent[]) => all.filter(({ job }) => job.target === target)
  ofTarget('/done', stand.sent)[0]!.answer('done')
  await done!.ended()
  const later = await stand.next()
  await later.sentUntil(1)
  await settle()
  assert.deepEqual(
    later.sent.map(({ job }) => job.target),
    ['/open'],
  )
  later.sent[0]!.answer('at last')
  await later.keeper.ended(open!.id)
  assert.equal(await resultOf(later, open!.id), 'at last')
  for (const cut of [once, waiting]) assert.match((await resultOf(later, cut!.id))!, /outcome-unknown/)
})

test('a cancelled job is cut off, and has no answer any more', async (t) => {
  const stand = await startKeeper(t)
  const kept = await stand.keeper.keep(order(), noBody)
  const sent = await stand.sentUntil(1)
  assert.equal(await stand.keeper.cancel(kept!.id, { saved: 5 }), true)
  assert.equal(sent.signal.aborted, true)
  await kept!.ended()
  sent.answer('too late')
  await settle()
  const job = await stand.store.job(kept!.id)
  assert.deepEqual([job?.state, job?.facts], ['cancelled', { saved: 5 }])
  assert.equal(await stand.keeper.cancel(kept!.id, {}), false)
})

test('a repeat with the same key waits for the same job, another request is a conflict', async (t) => {
  const stand = await startKeeper(t)
  const keyed = (fingerprint: string) => order({ idempotency: { key: 'k', fingerprint } })
  const [first, repeat] = await Promise.all([
    stand.keeper.keep(keyed('a'), noBody),
    stand.keeper.keep(keyed('a'), noBody),
  ])
  assert.deepEqual([repeat!.id, repeat!.isRepeat], [first!.id, true])
  let hasEnded = false
  void repeat!.ended().then(() => {
    hasEnded = true
  })
  await settle()
  assert.equal(hasEnded, false)
  assert.equal(await stand.keeper.keep(keyed('b'), noBody), undefined)
  ;(await stand.sentUntil(1)).answer('done')
  await repeat!.ended()
  assert.equal(stand.sent.length, 1)
})

test('the cluster is given a limited number of jobs, in the order of acceptance', async (t) => {
  const stand = await startKeeper(t, new MemoryJobStore(), 2)
  for (let i = 0; i < 4; i++) await stand.keeper.keep(order({ target: `/${i}` }), noBody)
  await settle()
  assert.equal(stand.sent.length, 2)
  stand.sent[0]!.answer('done')
  await stand.sentUntil(3)
  assert.equal(stand.sent[2]!.job.target, '/2')
})
