import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  answerOf,
  bytesOf,
  idsOf,
  type MakeSubject,
  newJob,
  openLed,
  range,
  rejectsWith,
  startedAt,
} from './samples.ts'

function acceptedJobs(name: string, make: MakeSubject): void {
  test(`${name}: an accepted job is found with everything it was accepted with`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    const fields = [
      ['Accept', 'a'],
      ['x-twice', '1'],
      ['x-twice', 'ü € 😀'],
    ] as const
    const { request } = newJob(1)
    const job = newJob(1, {
      request: { ...request, target: '/a?b=%00&c=ü', fields },
      webhook: 'https://x.test/',
    })
    assert.deepEqual(await store.accept(epoch, job), { kind: 'accepted' })
    const expected = {
      ...{ id: 'job-1', workload: 'thumbnails', client: 'client', acceptedAt: startedAt + 1, fields },
      ...{
        quote: { workMs: 1 },
        method: 'POST',
        target: '/a?b=%00&c=ü',
        bodyBytes: 6,
        isRepeatable: true,
        state: 'open',
      },
      webhook: { url: 'https://x.test/', state: 'waiting', tries: 0 },
    }
    assert.deepEqual(await store.job('job-1'), expected)
    assert.equal(`${await bytesOf(await store.body('job-1'))}`, 'body 1')
    assert.equal(await store.result('job-1'), undefined)
  })

  test(`${name}: the start of a job that must not be repeated is remembered`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    await store.accept(epoch, newJob(1, { isRepeatable: false }))
    await store.noteStarted(epoch, 'job-1', startedAt + 5)
    await store.noteStarted(epoch, 'job-2', startedAt + 5)
    const [job] = await Array.fromAsync(store.open())
    assert.deepEqual([job?.isRepeatable, job?.startedAt], [false, startedAt + 5])
    await rejectsWith(store.noteStarted(epoch - 1, 'job-1', startedAt), 'STORE_FENCED', /epoch/)
  })

  test(`${name}: unknown jobs are undefined, and cannot end`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    assert.equal(await store.job('job-1'), undefined)
    assert.equal(await store.body('job-1'), undefined)
    assert.equal(await store.result('job-1'), undefined)
    assert.equal(await store.answer(epoch, 'job-1', answerOf(1)), false)
    assert.equal(await store.cancel(epoch, 'job-1', startedAt), false)
    await store.noteWebhook(epoch, 'job-1', { url: 'https://x.test/', state: 'waiting', tries: 1 })
    assert.equal(await store.job('job-1'), undefined)
  })
}

function openJobs(name: string, make: MakeSubject): void {
  test(`${name}: open jobs come in the order of acceptance`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    for (const number of [3, 1, 2]) await store.accept(epoch, newJob(number, { acceptedAt: startedAt }))
    await store.answer(epoch, 'job-1', answerOf(1))
    assert.deepEqual(await idsOf(store.open()), ['job-3', 'job-2'])
  })

  test(`${name}: an id names one job; accepting it again changes nothing`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    await store.accept(epoch, newJob(1))
    await store.answer(epoch, 'job-1', answerOf(1))
    assert.deepEqual(await store.accept(epoch, newJob(1)), { kind: 'accepted' })
    assert.equal((await store.job('job-1'))?.state, 'answered')
    const other = store.accept(epoch, newJob(1, { client: 'other' }))
    const beside = store.accept(epoch, newJob(2))
    await rejectsWith(other, 'STORE', /job job-1 exists already and is another one/)
    assert.deepEqual(await beside, { kind: 'accepted' })
  })

  test(`${name}: 500 jobs accepted at once are all there`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    await Promise.all(range(500).map((number) => store.accept(epoch, newJob(number))))
    const ids = await idsOf(store.open())
    assert.deepEqual(
      ids.toSorted(),
      range(500)
        .map((n) => `job-${n}`)
        .toSorted(),
    )
    await Promise.all(range(500).map((number) => store.answer(epoch, `job-${number}`, answerOf(number))))
    assert.deepEqual(await idsOf(store.open()), [])
    assert.equal(`${await bytesOf((await store.result('job-321'))?.body)}`, 'result 321')
  })
}

function endsOfJobs(name: string, make: MakeSubject): void {
  test(`${name}: a result is kept with its status, fields and bytes`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    await store.accept(epoch, newJob(1, { quote: undefined }))
    assert.equal(
      await store.answer(epoch, 'job-1', answerOf(1, { status: 201, facts: { attempts: 2 } })),
      true,
    )
    const job = await store.job('job-1')
    assert.equal(job?.state, 'answered')
    assert.equal(job.endedAt, startedAt + 1_001)
    assert.equal(job.quote, undefined)
    assert.deepEqual(job.answer, { status: 201, bytes: 8, isKept: true })
    assert.deepEqual(job.facts, { attempts: 2 })
    const result = await store.result('job-1')
    assert.equal(result?.status, 201)
    assert.equal(result.bytes, 8)
    assert.deepEqual(result.fields, [['content-type', 'text/plain']])
    assert.equal(`${await bytesOf(result.body)}`, 'result 1')
    assert.equal(`${await bytesOf(await store.body('job-1'))}`, 'body 1')
  })

  test(`${name}: the first end of a job counts`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    for (const number of [1, 2]) await store.accept(epoch, newJob(number))
    const ends = range(20).map((n) =>
      store.answer(epoch, 'job-1', answerOf(n, { body: Buffer.from(`${n}`) })),
    )
    const firsts = (await Promise.all(ends)).flatMap((isFirst, n) => (isFirst ? [n] : []))
    assert.equal(firsts.length, 1)
    assert.equal(`${await bytesOf((await store.result('job-1'))?.body)}`, `${firsts[0]}`)
    assert.equal(await store.cancel(epoch, 'job-1', startedAt), false)
    assert.equal(await store.cancel(epoch, 'job-2', startedAt + 5, { why: 'asked' }), true)
    assert.equal(await store.answer(epoch, 'job-2', answerOf(2)), false)
    const cancelled = await store.job('job-2')
    assert.equal(cancelled?.state, 'cancelled')
    assert.equal(cancelled.endedAt, startedAt + 5)
    assert.equal(cancelled.answer, undefined)
    assert.deepEqual(cancelled.facts, { why: 'asked' })
    assert.equal(await store.result('job-2'), undefined)
  })
}

function webhooksOfJobs(name: string, make: MakeSubject): void {
  test(`${name}: webhooks wait from the end of their jobs until they are delivered`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    const url = 'https://x.test/hook'
    for (const number of [1, 2, 3]) await store.accept(epoch, newJob(number, { webhook: url }))
    await store.accept(epoch, newJob(4))
    assert.deepEqual(await store.waitingWebhooks(10), [])
    for (const number of [2, 1, 4]) await store.answer(epoch, `job-${number}`, answerOf(number))
    await store.cancel(epoch, 'job-3', startedAt)
    assert.deepEqual(await idsOf(await store.waitingWebhooks(10)), ['job-3', 'job-1', 'job-2'])
    assert.deepEqual(await idsOf(await store.waitingWebhooks(1)), ['job-3'])
    const later = {
      url,
      state: 'waiting',
      tries: 1,
      dueAt: startedAt + 9_000,
      problem: 'status 500',
    } as const
    await store.noteWebhook(epoch, 'job-3', later)
    await store.noteWebhook(epoch, 'job-1', { url, state: 'delivered', tries: 1 })
    const waiting = await store.waitingWebhooks(10)
    assert.deepEqual(await idsOf(waiting), ['job-2', 'job-3'])
    assert.deepEqual(waiting[1]?.webhook, later)
    assert.deepEqual((await store.job('job-1'))?.webhook, { url, state: 'delivered', tries: 1 })
  })

  test(`${name}: URLs of disabled webhooks are known until their time`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    const urls = ['https://x.test/a', 'https://x.test/a', 'https://x.test/b', 'https://x.test/c']
    for (const [i, url] of urls.entries()) {
      await store.accept(epoch, newJob(i, { webhook: url }))
      await store.answer(epoch, `job-${i}`, answerOf(i))
      const state = i === 3 ? 'delivered' : 'disabled'
      // Only the message that the receiver refused has a time.
      await store.noteWebhook(epoch, `job-${i}`, { url, state, tries: 1, ...(i !== 1 && { dueAt: 100 + i }) })
    }
    assert.deepEqual(Object.fromEntries(await store.disabledWebhooks(0)), {
      [urls[0]!]: 100,
      [urls[2]!]: 102,
    })
    assert.deepEqual(Object.fromEntries(await store.disabledWebhooks(100)), { [urls[2]!]: 102 })
    assert.deepEqual(await store.waitingWebhooks(10), [])
  })

  test(`${name}: the first secret is the one of all clusters, if there can be several`, async (t) => {
    const { store } = await openLed(t, await make(t))
    const first = await store.sharedSecret('one')
    assert.ok(first === 'one' || first === undefined)
    assert.equal(await store.sharedSecret('another'), first)
  })
}

export function jobsContract(name: string, make: MakeSubject): void {
  acceptedJobs(name, make)
  openJobs(name, make)
  endsOfJobs(name, make)
  webhooksOfJobs(name, make)
}
