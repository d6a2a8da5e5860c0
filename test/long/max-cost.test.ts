/** `plimsoll-max-cost`: requests that would cost more are refused, and jobs that do are ended. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import type { Estimator } from '../../src/estimate/estimator.ts'
import type { QuoteDocument } from '../../src/estimate/quote.ts'
import { nominalRate } from '../../src/worker/rates.ts'
import { startFront } from '../support/front-processes.ts'
import {
  assertWell,
  fixtures,
  problemOf,
  startLive,
  stopLive,
  storyOf,
  until,
  untilIdle,
  useLive,
} from '../support/live.ts'
import { ownOf } from '../support/own-programs.ts'
import { isAlive } from '../support/processes.ts'
import { startUp } from '../support/up.ts'

const patient = { timeout: 180_000 }
const program = join(import.meta.dirname, '..', '..', 'src', 'worker', 'program', 'fixtures', 'server.mjs')
const command = [process.execPath, program, '--port', '{port}']

/** Seconds of a core that the request states; one at least. */
const estimator: Estimator = {
  estimate({ params }) {
    const seconds = Number((params as { seconds?: string }).seconds ?? 1)
    const work = seconds * 1000 * nominalRate('off')
    return { work, low: work / 2, high: work * 2, source: 'memo', reason: { code: 'fixed' }, memoryMb: 1 }
  },
  learn: () => {},
}
const files = [fixtures, join(import.meta.dirname, '..', 'fixtures', 'spenders.ts')]
const live = useLive({ files, estimator, meter: 'off', pricePerHour: 3600, directBelowMs: 1000 })

const get = (path: string, most: string, url = live.url) =>
  fetch(url + path, { headers: { 'plimsoll-max-cost': most } })

test('a request that is sure to cost more is refused with its quote, and never runs', async () => {
  const before = live.state().counters.accepted
  const problem = await problemOf(get('/echo?seconds=100', '4s'), 422)
  assert.equal(problem.code, 'too-costly')
  assert.match(problem.detail, /^Nearly all such requests need more than .* = 4s allows 4 s\.$/)
  const { maxCost, quote } = problem as unknown as { maxCost: string; quote: QuoteDocument }
  assert.deepEqual([maxCost, quote.workload, quote.why], ['4s', 'echo', 'set in advance'])
  assert.ok(quote.seconds.low > 4 && quote.price!.low > 0)
  const { code } = await problemOf(get('/echo?seconds=100', 'price=4'), 422)
  assert.equal(code, 'too-costly')
  assert.equal(live.state().counters.accepted, before)
})

test('a request that is only expected to cost more runs, and gets its answer', async () => {
  const { seconds } = (await (await fetch(`${live.url}/-/estimate/echo?seconds=100`)).json()) as QuoteDocument
  const between = (seconds.low + seconds.expected) / 2
  assert.equal((await get('/echo?seconds=100', `${between.toFixed(3)}s`)).status, 200)
})

test('values that are no cost are refused', async () => {
  const { code, detail } = await problemOf(get('/echo', 'cheap'), 400)
  assert.equal(code, 'bad-max-cost')
  assert.match(detail, /^plimsoll-max-cost = cheap: must be CPU time such as 90s or 500ms/)
})

test('a job that reaches the limit is ended with its process, and not retried', async () => {
  const { code, detail, headers } = await problemOf(get('/spender?mark=ended&seconds=0.1', '300ms'), 504)
  assert.equal(code, 'cost-limit')
  assert.match(detail, /^cost limit: it used \d+ ms of CPU time, and its client allows 300 ms$/)
  assert.equal(headers.get('plimsoll-attempts'), '1')
  const pid = Number(readFileSync(join(live.dataDir, 'ended'), 'utf8'))
  await until(() => !isAlive(pid), 'its process has ended')
  assert.match(await storyOf(live, headers), /the job cost more than its client allows/)
  await untilIdle(live)
  await assertWell(live)
})

test('an answer that has begun breaks off at the limit', async () => {
  const answer = await get('/trickle', '300ms')
  await assert.rejects(answer.arrayBuffer())
  await untilIdle(live)
  await assertWell(live)
})

test('the limit holds over a front in another process', patient, async (t) => {
  const far = await startFront(t, live, '--workloads', files.join(','), '--meter', 'off')
  const refused = await problemOf(get('/echo?seconds=100', '4s', far.url), 422)
  assert.equal(refused.code, 'too-costly')
  const ended = await problemOf(get('/spender?mark=far&seconds=0.1', '300ms', far.url), 504)
  assert.deepEqual([ended.code, ended.headers.get('plimsoll-attempts')], ['cost-limit', '1'])
})

test('a request with a limit does not join the job of another', async (t) => {
  const mine = await startLive({ files, coalesce: true })
  t.after(() => stopLive(mine))
  const left = new AbortController()
  const unlimited = fetch(`${mine.url}/spender?mark=shared`, { signal: left.signal })
  await until(() => mine.state().placed === 1, 'one without a limit runs')
  const { code } = await problemOf(get('/spender?mark=shared', '300ms', mine.url), 504)
  assert.equal(code, 'cost-limit')
  assert.equal(mine.state().placed, 1)
  left.abort()
  await assert.rejects(unlimited)
})

test(
  'a request to an existing server is ended at its CPU time, not at the time that it waits',
  patient,
  async (t) => {
    const own = await ownOf(t, { workers: { command } })
    assert.equal((await get('/eat?mb=0&wait=600', '300ms', own.url)).status, 200)
    const { code, headers } = await problemOf(get('/spin?ms=60000', '300ms', own.url), 504)
    assert.deepEqual([code, headers.get('plimsoll-attempts')], ['cost-limit', '1'])
    assert.equal((await fetch(`${own.url}/pid`)).status, 200)
  },
)

test('the limit of a kept job holds when it runs', patient, async (t) => {
  const up = await startUp(t, '--workloads', files.join(','))
  const answer = await fetch(`${up.url}/spender?mark=kept`, {
    headers: { prefer: 'respond-async', 'plimsoll-max-cost': '300ms' },
  })
  assert.equal(answer.status, 202)
  const { id } = (await answer.json()) as { id: string }
  const result = () => fetch(`${up.url}/-/jobs/${id}/result`)
  let last = await result()
  const limit = performance.now() + 60_000
  while (last.status === 202 && performance.now() < limit) last = await result()
  const { type } = JSON.parse(await last.text()) as { type: string }
  assert.deepEqual([last.status, type], [504, 'urn:plimsoll:cost-limit'])
})
