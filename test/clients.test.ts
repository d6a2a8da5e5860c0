/** Clients over HTTP: identification, rate limits, and deadlines of workloads. */

import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import type { Estimator } from '../src/estimate/estimator.ts'
import { replay } from '../src/simulate/replay.ts'
import { fixtures, open, problemOf, startLive, stopLive, until, untilIdle, useLive } from './support/live.ts'

/** Estimates what the request states. */
const estimator: Estimator = {
  estimate({ params }) {
    const work = Number((params as { work?: string }).work ?? 1)
    return { work, low: work, high: work, source: 'prior', reason: { code: 'fixed' }, memoryMb: 1 }
  },
  learn: () => {},
}
const files = [fixtures, join(import.meta.dirname, 'fixtures', 'clients.ts')]
/** Too slow a refill to matter during a test. */
const rateLimit = { workPerMinute: 10, burst: 100 }
const live = useLive({ files, clientBy: 'key', rateLimit, estimator })

const get = (path: string, key?: string, more: Record<string, string> = {}) =>
  fetch(live.url + path, {
    headers: { ...more, ...(key !== undefined && { authorization: `Bearer ${key}` }) },
  })

test('a client that exceeds its rate limit gets a 429 with Retry-After; others are served', async () => {
  const runs = get('/gated?gate=g&work=90', 'top-s3cret')
  await until(() => live.state().placed === 1, 'it runs')
  const problem = await problemOf(get('/echo?work=71', 'top-s3cret'), 429)
  const { code, detail, headers, client, work, have, perMinute, retryAfterMs } = problem
  assert.equal(code, 'rate-limit')
  assert.match(String(client), /^key:[0-9a-f]{12}$/)
  assert.deepEqual([work, perMinute], [71, 10])
  assert.ok(Number(have) >= 10 && Number(have) < 71)
  const seconds = Math.ceil(Number(retryAfterMs) / 1000)
  assert.equal(headers.get('retry-after'), `${seconds}`)
  assert.match(
    detail,
    new RegExp(`^Client ${client} may use 10 units .* needs about 71, .* in ${seconds} s\\.$`),
  )
  assert.ok(headers.get('plimsoll-job'))
  for (const key of ['other', undefined]) assert.equal((await get('/echo?work=71', key)).status, 200)
  open(live, 'g')
  assert.equal((await runs).status, 200)
  await untilIdle(live)
})

test('work beyond the estimate is charged afterwards', async () => {
  assert.equal((await get('/heavy', 'debtor')).status, 204)
  const { have } = await problemOf(get('/echo?work=1', 'debtor'), 429)
  assert.ok(Number(have) < -900_000)
})

test('a quote does not count against the rate limit', async () => {
  for (let i = 0; i < 5; i++) assert.equal((await get('/-/estimate/echo?work=90', 'asks')).status, 200)
})

test('a workload may set a deadline, which the header overrides', async () => {
  assert.equal((await problemOf(get('/impatient?gate=never', 'k1'), 504)).code, 'deadline')
  const waits = get('/impatient?gate=later', 'k2', { 'plimsoll-deadline': '1e9' })
  await until(() => live.state().placed === 1, 'it runs')
  // The workload's deadline, which does not apply to the first request, passes in this time.
  await problemOf(get('/impatient?gate=never', 'k3'), 504)
  open(live, 'later')
  assert.equal(await (await waits).text(), 'opened')
  assert.equal(
    (await problemOf(get('/impatient', 'k4', { 'plimsoll-deadline': 'soon' }), 400)).code,
    'bad-deadline',
  )
})

test('client keys from a header appear in no log, state or answer, and a log with rejections replays', async (t) => {
  const eventLog = join(tmpdir(), `plimsoll-clients-${process.pid}.log`)
  t.after(() => rmSync(eventLog, { force: true }))
  const tenants = await startLive({ files, clientBy: 'header:x-api-key', rateLimit, estimator, eventLog })
  const headers = { 'x-api-key': 'hush-hush' }
  const answers: string[] = []
  try {
    for (const status of [204, 429]) {
      const answer = await fetch(`${tenants.url}/heavy`, { headers })
      assert.equal(answer.status, status)
      answers.push(await answer.text(), JSON.stringify([...answer.headers]))
    }
    answers.push(JSON.stringify(tenants.state()), ...tenants.lines)
  } finally {
    await stopLive(tenants)
  }
  const log = readFileSync(eventLog, 'utf8')
  assert.match(log, /"client":"key:[0-9a-f]{12}"/)
  assert.match(log, /"code":"rate-limit"/)
  for (const text of [log, ...answers]) assert.doesNotMatch(text, /hush-hush/)
  assert.equal((await replay(log.split('\n'))).difference, undefined)
})
