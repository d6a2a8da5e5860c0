/** The fields `RateLimit-Policy` and `RateLimit` of a live cluster, in its own process and over another front. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import type { Estimator } from '../src/estimate/estimator.ts'
import { nominalRate } from '../src/worker/rates.ts'
import { startFront } from './support/front-processes.ts'
import { fixtures, open, problemOf, startLive, stopLive, until, untilIdle, useLive } from './support/live.ts'

/** Seconds of a core that the request states. */
const estimator: Estimator = {
  estimate({ params }) {
    const work = Number((params as { seconds?: string }).seconds ?? 0) * 1000 * nominalRate('off')
    return { work, low: work, high: work, source: 'memo', reason: { code: 'fixed' }, memoryMb: 1 }
  },
  learn: () => {},
}
const unit = 1000 * nominalRate('off')
/** A second of a core in an hour: nothing flows in during a test. */
const rateLimit = { workPerMinute: unit / 60, burst: 100 * unit }
const files = [fixtures]
const repeats = join(import.meta.dirname, 'fixtures', 'repeats.ts')
const live = useLive({ files, meter: 'off', clientBy: 'key', rateLimit, estimator })

const policy = '"work";q=100;w=360000;qu="core-seconds"'
const fieldsOf = ({ headers }: { headers: Headers }) => [
  headers.get('ratelimit-policy'),
  headers.get('ratelimit'),
]
const leftOf = (answer: { headers: Headers }) => {
  const [given, left] = fieldsOf(answer)
  assert.equal(given, policy)
  const [, seconds, resets] = /^"work";r=(\d+);t=(\d+)$/.exec(left!) ?? []
  return [Number(seconds), Number(resets)]
}

const get = (path: string, key: string, url = live.url) =>
  fetch(url + path, { headers: { authorization: `Bearer ${key}` } })

test('an answer says what the limit leaves, with the request itself paid for', async () => {
  const runs = get('/gated?gate=first&seconds=60', 'a')
  await until(() => live.state().placed === 1, 'it runs')
  const over = await problemOf(get('/echo?seconds=60', 'a'), 429)
  const [left, resets] = leftOf(over)
  assert.ok(left === 39 || left === 40)
  assert.ok(resets! > 60 * 3500 && resets! <= 60 * 3600, `${resets}`)
  assert.match(over.headers.get('retry-after')!, /^3600$/)
  open(live, 'first')
  assert.equal(leftOf(await runs)[0], 40)
  await untilIdle(live)
})

test('the same over a front in another process', { timeout: 180_000 }, async (t) => {
  const far = await startFront(t, live, '--meter', 'off')
  assert.equal(leftOf(await get('/echo?seconds=60', 'far', far.url))[0], 40)
  const fails = await problemOf(get('/fail?seconds=10', 'far', far.url), 500)
  assert.ok(leftOf(fails)[0]! >= 88 && leftOf(fails)[0]! <= 90)
  const over = await problemOf(get('/echo?seconds=200', 'far', far.url), 429)
  assert.ok(leftOf(over)[0]! >= 98)
})

test('clients without a limit are told nothing', async (t) => {
  const free = await startLive({ files, meter: 'off' })
  t.after(() => stopLive(free))
  assert.deepEqual(fieldsOf(await fetch(`${free.url}/echo`)), [null, null])
})

test('an answer that is shared or cached says nothing about the limit of the client that asked first', async (t) => {
  const shared = await startLive({
    ...{ files: [repeats], meter: 'off', clientBy: 'key', rateLimit },
    ...{ coalesce: true, cacheBytes: 1024 * 1024 },
  })
  t.after(() => stopLive(shared))
  const both = ['first', 'second'].map((key) => get('/gated?gate=both', key, shared.url))
  await until(() => shared.state().cache!.shared === 1, 'the second has joined')
  open(shared, 'both')
  const answers = await Promise.all(both)
  assert.deepEqual(answers.map((answer) => fieldsOf(answer)[0]).sort(), [policy, null])
  const hit = await get('/gated?gate=both', 'third', shared.url)
  assert.deepEqual([hit.headers.get('plimsoll-cache'), ...fieldsOf(hit)], ['hit', null, null])
})
