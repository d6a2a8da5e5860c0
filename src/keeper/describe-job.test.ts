import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { StoredJob } from '../store/store.ts'
import { clusterView } from './cluster-view.ts'
import { cancelFacts, describeJob, reasonsOf } from './describe-job.ts'
import { retryAfterS } from './documents.ts'
import type { OpenJob } from './open-jobs.ts'

const stored: StoredJob = {
  ...{ id: 'kept', workload: 'w', client: 'c', acceptedAt: 0, quote: { work: 40 } },
  ...{ method: 'POST', target: '/w', fields: [], bodyBytes: 0, isRepeatable: true, state: 'open' },
}

/** A brain that has these jobs, and tells this story of each. */
async function brain(t: TestContext, state: object, story: { text: string }[] = []) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url!)
    const isState = request.url === '/api/state'
    response.end(JSON.stringify(isState ? { waiting: [], workers: [], away: [], ...state } : { story }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return { asked, view: clusterView(() => ({ url: `http://127.0.0.1:${port}`, token: 't' })) }
}

const standing = (open: Partial<OpenJob> = {}) => ({
  keeper: () => ({ standing: () => open as OpenJob }),
  now: () => 0,
})

test('a job that runs in a function is running there', async (t) => {
  const { view } = await brain(t, { away: [{ job: 'j', attempt: 2, function: 'f1' }] })
  const document = await describeJob({ ...standing({ job: 'j' }), view }, stored)
  assert.deepEqual([document.state, document.worker, document.attempts], ['running', 'f1', 2])
})

test('an open job has its attempts and its last reasons', async (t) => {
  const jobs = [{ job: 'j', attempt: 3, running: true, done: 4, remaining: 6 }]
  const story = ['a', 'b', 'c', 'd'.repeat(1_000)].map((text) => ({ text }))
  const { view } = await brain(t, { workers: [{ id: 'w1', cores: 1, jobs }] }, story)
  const parts = { ...standing({ job: 'j' }), view }
  assert.equal((await describeJob(parts, stored)).attempts, 3)
  assert.deepEqual(await reasonsOf(parts, stored), { why: ['b', 'c', 'd'.repeat(300)] })
  assert.deepEqual(await reasonsOf(parts, { ...stored, state: 'answered' }), {})
})

test('a job that the cluster does not have says why', async (t) => {
  const { view } = await brain(t, {})
  assert.match((await reasonsOf({ ...standing(), view }, stored)).why![0]!, /accepted before/)
  const refused = await reasonsOf({ ...standing({ waitsFor: 'queue-full' }), view }, stored)
  assert.match(refused.why![0]!, /refused it for now: queue-full/)
  assert.deepEqual(await reasonsOf({ ...standing({ abort: new AbortController() }), view }, stored), {})
})

test('the expected end of a running job follows its progress, and so does Retry-After', async (t) => {
  const place = { job: 'j', attempt: 1, running: true, predicted: 40 }
  const jobs = [{ ...place, done: 10, remaining: 30, ranMs: 60_000 }]
  const { view } = await brain(t, { workers: [{ id: 'w1', cores: 1, jobs }] })
  const ends = { earliest: 30, expected: 40, latest: 50 }
  const quote = { work: 40, waitSeconds: 0, seconds: { low: 35, expected: 40, high: 45 }, ends }
  const job = { ...stored, quote }
  const at = async (ms: number, open: Partial<OpenJob>) => {
    const document = await describeJob({ ...standing(open), view, now: () => ms }, job)
    return { expected: Date.parse(document.eta!.expected), document }
  }
  assert.equal((await at(20_000, {})).expected, 40_000)
  const { expected, document } = await at(60_000, { job: 'j' })
  assert.ok(expected > 230_000 && expected < 250_000, `${expected}`)
  const againS = retryAfterS(job, 60_000, document.eta)
  assert.equal(againS, Math.ceil((expected - 60_000) / 1000))
})

test('few stories are read at a time', async (t) => {
  const { view, asked } = await brain(t, {}, [{ text: 'a' }])
  const answers = await Promise.all(Array.from({ length: 40 }, () => view.why('j')))
  assert.equal(answers.filter((why) => why !== undefined).length, 16)
  assert.equal(asked.length, 16)
  assert.deepEqual(await view.why('j'), ['a'])
})

test('a cancel saves what the job was still expected to need', async (t) => {
  const facts = async (state: object, open: Partial<OpenJob> = { job: 'j' }) => {
    const { view } = await brain(t, state)
    return cancelFacts(await describeJob({ ...standing(open), view }, stored))
  }
  assert.deepEqual(await facts({}, {}), { done: 0, saved: 40, was: 'accepted' })
  assert.deepEqual(await facts({ waiting: ['j'] }), { done: 0, saved: 40, was: 'queued' })
  const away = [{ job: 'j', attempt: 1, function: 'f' }]
  assert.deepEqual(await facts({ away }), { saved: 40, was: 'running', attempts: 1 })
  const jobs = [{ job: 'j', attempt: 1, running: false, done: 10, remaining: 25 }]
  assert.deepEqual(await facts({ workers: [{ id: 'w', cores: 1, jobs }] }), {
    ...{ done: 10, saved: 25, was: 'paused', attempts: 1 },
  })
  assert.deepEqual(
    cancelFacts({ ...(await describeJob({ ...standing(), view: {} as never }, stored)), quote: null }),
    {
      was: 'accepted',
    },
  )
})

test('a client looks again at the expected end, and later after a quarter of the age of the job', () => {
  const job = { acceptedAt: 0, quote: { ends: { earliest: 10, expected: 100, latest: 200 } } }
  const at = (ms: number, of: typeof job | { acceptedAt: number; quote: null } = job) => retryAfterS(of, ms)
  assert.deepEqual([at(0), at(40_000), at(120_000), at(400_000)], [100, 60, 30, 100])
  assert.equal(at(1e9), 300)
  const unknown = { acceptedAt: 0, quote: null }
  assert.deepEqual([at(0, unknown), at(20_000, unknown), at(80_000, unknown)], [1, 5, 20])
  assert.equal(at(0, { acceptedAt: 0, quote: { ends: { earliest: 1, expected: 1e9, latest: 1e9 } } }), 3600)
})
