/** Kept jobs: requests that are stored before they are accepted, and their answers, over deaths of processes. */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { problemOf, until } from './support/live.ts'
import { isAlive } from './support/processes.ts'
import { startUp, type Up } from './support/up.ts'

const patient = { timeout: 180_000 }

interface Job {
  id: string
  state: string
  answer?: { status: number; bytes: number; isKept: boolean }
  facts?: Record<string, unknown>
  links: { self: string; result: string; events: string }
  [field: string]: unknown
}

const ask = (up: Up, path: string, headers: Record<string, string> = {}, body?: string | Uint8Array) =>
  fetch(`${up.url}${path}`, {
    method: 'POST',
    headers: {
      connection: 'close',
      ...(body instanceof Uint8Array && { 'content-type': 'application/octet-stream' }),
      ...headers,
    },
    ...(body !== undefined && { body: body as string }),
  })

/** Hands a request in and returns its job. */
async function handIn(up: Up, path: string, body?: string | Uint8Array): Promise<Job> {
  const answer = await ask(up, path, { prefer: 'respond-async' }, body)
  const job = (await answer.json()) as Job
  assert.equal(answer.status, 202, JSON.stringify(job))
  assert.equal(answer.headers.get('location'), `/-/jobs/${job.id}`)
  assert.equal(answer.headers.get('preference-applied'), 'respond-async')
  assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  return job
}

async function jobOf(up: Up, { id }: Pick<Job, 'id'>): Promise<Job> {
  return (await (await fetch(`${up.url}/-/jobs/${id}`)).json()) as Job
}

async function untilJob(
  up: Up,
  job: Pick<Job, 'id'>,
  isSo: (job: Job) => boolean,
  what: string,
): Promise<Job> {
  const limit = performance.now() + 60_000
  for (;;) {
    const now = await jobOf(up, job).catch(() => undefined)
    if (now && isSo(now)) return now
    if (performance.now() > limit)
      throw new Error(
        `timed out waiting until ${what}: ${JSON.stringify(now)}\n${up.lines.slice(-20).join('\n')}`,
      )
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const isAnswered = ({ state }: Job) => state === 'answered'

test('a request that is handed in is accepted, runs, and its answer is kept', patient, async (t) => {
  const up = await startUp(t)
  const job = await handIn(up, '/gated?gate=a')
  assert.ok(existsSync(join(up.dataDir, 'jobs')))
  const early = await fetch(`${up.url}${job.links.result}`)
  assert.equal(early.status, 202)
  await early.body?.cancel()
  await untilJob(up, job, ({ state }) => state === 'running', 'it runs')
  up.open('a')
  const done = await untilJob(up, job, isAnswered, 'it is answered')
  assert.deepEqual(done.answer, { status: 200, bytes: 6, isKept: true })
  const result = await fetch(`${up.url}${job.links.result}`)
  assert.deepEqual([result.status, await result.text()], [200, 'opened'])
  assert.equal(result.headers.get('plimsoll-attempts'), '1')
  // As a client that waited would have got it.
  const direct = await ask(up, '/gated?gate=a')
  assert.equal(direct.headers.get('content-type'), result.headers.get('content-type'))
})

test('a client that waits long enough gets the answer itself, or a job', patient, async (t) => {
  const up = await startUp(t)
  const answer = await ask(up, '/strict?n=4', { prefer: 'wait=60' })
  assert.deepEqual([answer.status, await answer.text()], [200, '8'])
  assert.equal(answer.headers.get('preference-applied'), 'wait=60')
  const job = await ask(up, '/gated?gate=b', { prefer: 'respond-async, wait=1' })
  assert.equal(job.status, 202)
  up.open('b')
  await untilJob(up, (await job.json()) as Job, isAnswered, 'it is answered')
})

test('what would be refused is refused at once, and is not kept', patient, async (t) => {
  const up = await startUp(t)
  const keep = { prefer: 'respond-async' }
  assert.equal((await problemOf(ask(up, '/no-such', keep), 404)).code, 'unknown-workload')
  await problemOf(ask(up, '/strict?n=x', keep), 400)
  assert.equal(
    (await problemOf(ask(up, '/strict?n=1', { 'idempotency-key': 'é'.slice(0, 0) }), 400)).code,
    'bad-idempotency-key',
  )
  assert.equal(
    (await problemOf(ask(up, '/strict?n=1', { 'plimsoll-webhook': 'https://a.example' }), 422)).code,
    'bad-webhook',
  )
  const { jobs } = (await (await fetch(`${up.url}/-/jobs`)).json()) as { jobs: Job[] }
  assert.deepEqual(jobs, [])
  await problemOf(fetch(`${up.url}/-/jobs?state=lost`), 400)
  await problemOf(fetch(`${up.url}/-/jobs?limit=0`), 400)
  await problemOf(fetch(`${up.url}/-/jobs/0mi2k8v1c-00000000000000000000000000000000`), 404)
  await problemOf(fetch(`${up.url}/-/jobs/../x`), 404)
})

test('requests with the same idempotency key are one job', patient, async (t) => {
  const up = await startUp(t)
  const key = { 'idempotency-key': '"order-1"' }
  const both = [ask(up, '/gated?gate=k', key), ask(up, '/gated?gate=k', key)]
  const { jobs } = await untilOne(up)
  up.open('k')
  assert.deepEqual(await Promise.all(both.map(async (one) => (await one).text())), ['opened', 'opened'])
  const again = await ask(up, '/gated?gate=k', key)
  assert.deepEqual([again.headers.get('plimsoll-repeated'), await again.text()], ['true', 'opened'])
  assert.equal(again.headers.get('content-location'), `/-/jobs/${jobs[0]!.id}/result`)
  assert.equal((await problemOf(ask(up, '/gated?gate=other', key), 422)).code, 'key-used')
  assert.equal(((await (await fetch(`${up.url}/-/jobs`)).json()) as { jobs: Job[] }).jobs.length, 1)
})

async function untilOne(up: Up): Promise<{ jobs: Job[] }> {
  for (;;) {
    const page = (await (await fetch(`${up.url}/-/jobs?state=open`)).json()) as { jobs: Job[] }
    if (page.jobs.length > 0) return page
  }
}

test('a long body is kept, and the workload gets the same bytes', patient, async (t) => {
  const up = await startUp(t)
  const body = Buffer.alloc(3_000_000)
  for (let i = 0; i < body.length; i++) body[i] = (i * 31) % 253
  const job = await handIn(up, '/mirror', body)
  await untilJob(up, job, isAnswered, 'it is answered')
  const result = await fetch(`${up.url}${job.links.result}`)
  assert.ok(body.equals(Buffer.from(await result.arrayBuffer())))
})

test('a job is cancelled wherever it is, and its process ends', patient, async (t) => {
  const up = await startUp(t)
  const job = await handIn(up, '/endless?mark=started')
  await until(() => existsSync(join(up.dataDir, 'started')), 'it runs')
  const { readFileSync } = await import('node:fs')
  const pid = Number(readFileSync(join(up.dataDir, 'started'), 'utf8'))
  const answer = await fetch(`${up.url}${job.links.self}`, { method: 'DELETE' })
  const cancelled = (await answer.json()) as Job
  assert.deepEqual([answer.status, cancelled.state], [200, 'cancelled'])
  await until(() => !isAlive(pid), 'its process has ended')
  assert.equal((await problemOf(fetch(`${up.url}${job.links.result}`), 410)).code, 'cancelled')
  const done = await handIn(up, '/strict?n=1')
  await untilJob(up, done, isAnswered, 'it is answered')
  assert.equal(
    (await problemOf(fetch(`${up.url}${done.links.self}`, { method: 'DELETE' }), 409)).code,
    'already-answered',
  )
})

test(
  'more open jobs than allowed are refused with the limit, and others are accepted when one ends',
  patient,
  async (t) => {
    const up = await startUp(t, '--open-jobs', '2', '--open-share', '100')
    const jobs = [await handIn(up, '/gated?gate=q'), await handIn(up, '/gated?gate=q')]
    const refused = await ask(up, '/gated?gate=q', { prefer: 'respond-async' })
    assert.deepEqual([refused.status, refused.headers.get('content-type')], [503, 'application/problem+json'])
    assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
    const { type, limit, most } = (await refused.json()) as { type: string; limit: string; most: number }
    assert.deepEqual([type, limit, most], ['urn:plimsoll:kept-jobs-full', 'open-jobs', 2])
    const long = await ask(up, '/mirror', { prefer: 'respond-async' }, new Uint8Array(3_000_000))
    assert.equal(long.status, 503)
    await long.body?.cancel()
    up.open('q')
    for (const job of jobs) await untilJob(up, job, isAnswered, 'it is answered')
    await handIn(up, '/gated?gate=q')
  },
)

test('events report on a job until it has ended', patient, async (t) => {
  const up = await startUp(t)
  const job = await handIn(up, '/gated?gate=e')
  const events = await fetch(`${up.url}${job.links.events}`)
  assert.equal(events.headers.get('content-type'), 'text/event-stream')
  up.open('e')
  const text = await events.text()
  const names = [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name)
  assert.deepEqual([names[0], names.at(-1)], ['accepted', 'ended'])
  assert.match(text, /\nid: ended\ndata: \{.*"state":"answered"/)
  const resumed = await fetch(`${up.url}${job.links.events}`, { headers: { 'last-event-id': 'ended' } })
  assert.equal(resumed.status, 204)
})

test('no process of the cluster can lose a kept job by its death', patient, async (t) => {
  const up = await startUp(t)
  const finished = await handIn(up, '/echo?n=1')
  const before = await untilJob(up, finished, isAnswered, 'it is answered')
  for (const [what, pidOf] of [
    ['the keeper', () => up.keeper()!],
    ['the brain', () => up.brain()],
    ['the front', () => up.fronts()[0]!],
  ] as const) {
    const jobs = await Promise.all(Array.from({ length: 6 }, () => handIn(up, `/gated?gate=${what.length}`)))
    await untilJob(up, jobs[0]!, ({ state }) => state !== 'accepted', 'the cluster has it')
    const pid = pidOf()
    process.kill(pid, 'SIGKILL')
    await until(() => !isAlive(pid), `${what} is dead`)
    up.open(`${what.length}`)
    for (const job of jobs) {
      const { answer } = await untilJob(up, job, isAnswered, `it is answered after ${what} died`)
      assert.equal(answer?.status, 200)
      assert.equal(await (await fetch(`${up.url}${job.links.result}`)).text(), 'opened')
    }
  }
  assert.deepEqual(await jobOf(up, finished), before)
})

test('the next cluster with the same data folder goes on with the jobs', patient, async (t) => {
  const up = await startUp(t)
  const job = await handIn(up, '/gated?gate=n')
  process.kill(up.process.pid!, 'SIGKILL')
  await until(() => !isAlive(up.process.pid!), 'it is dead')
  const next = await startUp(t, '--data', up.dataDir)
  up.open('n')
  await untilJob(next, job, isAnswered, 'it is answered')
  assert.equal(await (await fetch(`${next.url}${job.links.result}`)).text(), 'opened')
})
