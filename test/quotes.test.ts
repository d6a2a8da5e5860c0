/** Quotes: estimates of a request, asked for in the same way as the request itself. */

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Estimator, Question } from '../src/estimate/estimator.ts'
import type { QuoteDocument } from '../src/estimate/quote.ts'
import { keptBodies, open, problemOf, until, untilIdle, useLive } from './support/live.ts'

const live = useLive({ pricePerHour: 3600 })

/** Records the questions and lessons of the estimator. */
const asked: Question[] = []
const taught: { question: Question; work: number }[] = []
const spy: Estimator = {
  estimate(question) {
    asked.push(question)
    const work = Number((question.params as { n?: string }).n ?? 1)
    return { work, low: work, high: work, source: 'prior', reason: { code: 'fixed' }, memoryMb: 1 }
  },
  learn: (question, { work }) => void taught.push({ question, work }),
}
const watched = useLive({ estimator: spy })

const estimate = (path: string, init?: RequestInit) => fetch(`${live.url}/-/estimate/${path}`, init)
async function quote(path: string, init?: RequestInit): Promise<QuoteDocument> {
  const answer = await estimate(path, init)
  const text = await answer.text()
  assert.equal(answer.status, 200, text)
  assert.equal(answer.headers.get('content-type'), 'application/json')
  return JSON.parse(text) as QuoteDocument
}

test('the quote of a workload without history is marked as a guess', async () => {
  const { seconds, price, ...rest } = await quote('strict?n=7')
  assert.equal(rest.workload, 'strict')
  assert.equal(rest.source, 'prior')
  assert.deepEqual(rest.reason, { code: 'never-seen', cpuMs: 100 })
  assert.match(rest.why, /^no request of this workload has been measured yet/)
  assert.ok(rest.low < rest.work && rest.work < rest.high && rest.memoryMb > 0)
  assert.ok(seconds.low < seconds.expected && seconds.expected < seconds.high)
  assert.equal(rest.waitSeconds, 0)
  // A worker has one core, which costs 1 per second. Before anything was measured, all the time is assumed to need it.
  assert.equal(price!.expected, seconds.expected)
  assert.ok(price!.low < price!.expected && price!.expected < price!.high)
})

test('parameters come from the query or from JSON, and are validated like those of a request', async () => {
  const post = (body: string) => ({ method: 'POST', body, headers: { 'content-type': 'application/json' } })
  assert.equal((await quote('strict', post('{"n":7}'))).workload, 'strict')
  const [quoted, requested] = await Promise.all([
    problemOf(estimate('strict?n=x'), 400),
    problemOf(fetch(`${live.url}/strict?n=x`), 400),
  ])
  assert.deepEqual([quoted.code, quoted.errors], [requested.code, requested.errors])
  assert.equal((await problemOf(estimate('strict', post('{')), 400)).code, 'bad-json')
})

test('unknown workloads and wrong methods are rejected', async () => {
  for (const path of ['nope', '', 'strict/more', '%2e%2e']) {
    const { code, detail } = await problemOf(estimate(path), 404)
    assert.match(code, /^(unknown-workload|not-found)$/)
    if (path === 'nope') assert.match(detail, /There are: .*\/-\/estimate\/strict/)
  }
  const { headers } = await problemOf(estimate('strict?n=1', { method: 'DELETE' }), 405)
  assert.equal(headers.get('allow'), 'GET, HEAD, POST')
  const head = await estimate('strict?n=1', { method: 'HEAD' })
  assert.deepEqual([head.status, await head.text()], [200, ''])
})

test('a quote runs no job and keeps no body', async () => {
  const { accepted } = live.state().counters
  await quote('mirror', { method: 'POST', body: Buffer.alloc(3_000_000) })
  await problemOf(estimate('mirror', { method: 'POST', body: Buffer.alloc(17_000_000) }), 413)
  assert.equal(live.state().counters.accepted, accepted)
  await until(() => keptBodies().length === 0, 'no body is kept')
})

test('a repeated request is quoted by its measured work, and its time by the rate of its worker', async () => {
  const answer = await fetch(`${live.url}/strict?n=9`)
  const work = Number(answer.headers.get('plimsoll-work'))
  await untilIdle(live)
  const quoted = await quote('strict?n=9')
  assert.deepEqual([quoted.work, quoted.source, quoted.reason.code], [work, 'memo', 'memo'])
  assert.equal((await quote('strict?n=10')).source, 'similar')
})

test('the quoted wait includes jobs that go first, but not longer ones', async () => {
  const waitOf = async (n: string) => {
    const answer = await fetch(`${watched.url}/-/estimate/echo?n=${n}`)
    return ((await answer.json()) as QuoteDocument).waitSeconds
  }
  // Estimates so large that neither job comes near its end during the test.
  const stuck = [1, 2].map(() => fetch(`${watched.url}/gated?gate=q&n=1e15`))
  await until(() => watched.state().jobs === 2, 'one runs and one is queued')
  assert.ok((await waitOf('1e16'))! > 1000)
  assert.equal(await waitOf('1e12'), 0)
  open(watched, 'q')
  await Promise.all(stuck)
  await untilIdle(watched)
  assert.equal(await waitOf('1e16'), 0)
  taught.length = 0
  asked.length = 0
})

test('a job is estimated and learned from with the same question', async () => {
  const body = Buffer.alloc(100_000, 'x')
  await fetch(`${watched.url}/mirror?n=5`, { method: 'POST', body })
  await untilIdle(watched)
  await until(() => taught.length === 1, 'it was learned from')
  const [question] = asked
  assert.equal(taught[0]!.question, question)
  assert.equal(question!.workload, 'mirror')
  assert.match(question!.codeHash, /^[0-9a-f]{64}$/)
  assert.deepEqual(question!.features, { 'body.bytes': 100_000, n: '5' })
})

test('the key distinguishes bodies, also large ones in files; a JSON body counts as parameters', async () => {
  asked.length = 0
  const ask = (body: Buffer | string, type = 'application/octet-stream') =>
    fetch(`${watched.url}/-/estimate/mirror`, { method: 'POST', body, headers: { 'content-type': type } })
  const large = (first: string) => Buffer.concat([Buffer.from(first), Buffer.alloc(2_000_000)])
  await ask('one')
  await ask('two')
  await ask(large('a'))
  await ask(large('b'))
  await ask(large('a'))
  await ask('{"n":5}', 'application/json')
  await ask('{ "n": 5 }', 'application/json')
  const keys = asked.map(({ key }) => key)
  assert.equal(new Set(keys.slice(0, 4)).size, 4)
  assert.equal(keys[4], keys[2])
  assert.deepEqual(keys.slice(5), ['{"n":5}', '{"n":5}'])
  assert.equal(asked[2]!.features['body.bytes'], 2_000_001)
})
