import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { after, before } from 'node:test'
import { UnreachableError } from '../../lib/errors.ts'
import { createCluster } from '../cluster.ts'
import type { RunningCluster } from '../cluster-types.ts'
import { type Client, createClient } from './client.ts'
import {
  CostError,
  DeadlineError,
  InvalidRequestError,
  JobFailedError,
  OutcomeUnknownError,
  OverloadedError,
} from './errors.ts'

type Workloads = typeof import('../fixtures/sums.ts')

let cluster: RunningCluster
let client: Client<Workloads>
before(async () => {
  cluster = await createCluster({
    ...{ workloads: import.meta.resolve('../fixtures/sums.ts'), min: 1, max: 1, stopAfter: 0 },
  })
  client = createClient<Workloads>(cluster)
})
after(async () => {
  await client?.close()
  await cluster?.close()
})

test('results are decoded by their type and come with the facts of the job', async () => {
  const { result, status, job, work, worker, attempts, cache } = await client.request('sum', { n: 1000 })
  assert.deepEqual(result, { sum: 499500, at: '1970-01-01T00:00:00.000Z' })
  assert.deepEqual([status, worker, attempts, cache], [200, cluster.state().workers[0]!.id, 1, undefined])
  assert.ok(job && work && work > 1000)
  assert.equal((await client.request('nothing')).result, undefined)
})

test('binary bodies travel both ways, with parameters in the query', async () => {
  const { result, status } = await client.request('bytes', { times: 2 }, { body: Uint8Array.of(1, 2, 3) })
  assert.deepEqual([status, [...result]], [201, [3, 2, 1, 3, 2, 1]])
  await assert.rejects(client.request('bytes', { times: [2] as never }, { body: '' }), {
    code: 'CONFIG',
    message: 'params.times = [ 2 ]: must be a string, number or boolean beside a body',
  })
})

test('an answer can be read as it arrives', async () => {
  const { body, status, job } = await client.stream('words')
  let text = ''
  for await (const chunk of body) text += new TextDecoder().decode(chunk)
  assert.deepEqual([status, text], [200, 'one two three'])
  assert.ok(job)
})

test('an estimate runs nothing', async () => {
  const before = cluster.state().counters.accepted
  const quote = await client.estimate('sum', { n: 1000 })
  assert.ok(quote.work > 0 && quote.low <= quote.work && quote.work <= quote.high)
  assert.equal(quote.workload, 'sum')
  assert.equal(cluster.state().counters.accepted, before)
})

test('problems are errors by what the caller does next, with stable codes', async () => {
  const invalid = await client.request('sum', { n: -1 }).catch((error: unknown) => error)
  assert.ok(invalid instanceof InvalidRequestError)
  assert.deepEqual(
    [invalid.name, invalid.status, invalid.code, invalid.job],
    ['InvalidRequestError', 400, 'bad-parameters', undefined],
  )
  assert.match(invalid.detail, /n: must be a whole number from 0 to 1000000000, not -1/)
  assert.ok(Array.isArray(invalid.fields.errors))
  const refused = await client.request('sum', { n: 13 }).catch((error: unknown) => error)
  assert.ok(refused instanceof InvalidRequestError)
  assert.deepEqual([refused.status, refused.code], [422, 'workload-error'])
  assert.ok(refused.job, 'a refusal names its job')
  const late = await client.request('sleeps', {}, { deadlineMs: 1 }).catch((error: unknown) => error)
  assert.ok(late instanceof DeadlineError && late.status === 504)
  await assert.rejects(createClient(cluster).request('nowhere'), { status: 404, code: 'unknown-workload' })
})

test('an aborted request rejects with the reason and is cancelled in the cluster', async () => {
  const abort = new AbortController()
  const asked = client.request('sleeps', {}, { signal: abort.signal })
  while (cluster.state().jobs === 0) await new Promise((resolve) => setImmediate(resolve))
  const reason = new Error('enough')
  abort.abort(reason)
  await assert.rejects(asked, (error) => error === reason)
  while (cluster.state().jobs > 0) await new Promise((resolve) => setImmediate(resolve))
  await assert.rejects(client.request('sum', { n: 1 }, { signal: abort.signal }), (error) => error === reason)
})

/** A server that answers as clusters do in states that are hard to cause. */
async function answering(
  t: { after(work: () => void): void },
  respond: Parameters<typeof createServer>[1],
): Promise<string> {
  const server: Server = createServer(respond)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('each kind of problem has its class', async (t) => {
  const cases = [
    [503, 'queue-full', OverloadedError],
    [429, 'rate-limit', OverloadedError],
    [502, 'outcome-unknown', OutcomeUnknownError],
    [502, 'poison', JobFailedError],
    [500, 'workload-error', JobFailedError],
    [504, 'no-time', DeadlineError],
    [422, 'too-costly', CostError],
    [504, 'cost-limit', CostError],
  ] as const
  const url = await answering(t, (request, response) => {
    const [status, code] = cases.find(([, each]) => request.url === `/${each}`)!
    response.writeHead(status, {
      'content-type': 'application/problem+json',
      'retry-after': '2',
      'plimsoll-job': 'j1',
    })
    response.end(
      JSON.stringify({ type: `urn:plimsoll:${code}`, title: '', status, detail: 'No.', needMs: 3 }),
    )
  })
  await using client = createClient(url)
  for (const [status, code, type] of cases) {
    const error = await client.request(code).catch((error: unknown) => error)
    assert.ok(error instanceof type, code)
    assert.deepEqual(
      [error.status, error.code, error.message, error.job, error.retryAfterMs, error.fields],
      [status, code, 'No.', 'j1', 2000, { needMs: 3 }],
    )
  }
})

test("a workload's own status and problem document are answers", async (t) => {
  const url = await answering(t, (_, response) => {
    response.writeHead(404, { 'content-type': 'application/problem+json' }).end('{"type":"urn:mine:gone"}')
  })
  await using client = createClient(url)
  const { status, result } = await client.request('any')
  assert.deepEqual([status, result], [404, { type: 'urn:mine:gone' }])
})

test('an address without a cluster, and an answer that is cut off, are reported', async (t) => {
  const url = await answering(t, (request, response) => {
    if (request.url === '/json') return response.setHeader('content-type', 'application/json').end('{')
    response.writeHead(200, { 'content-length': '10' }).write('abc', () => response.destroy())
  })
  const client = createClient(url)
  await assert.rejects(
    client.request('any'),
    (error) => error instanceof UnreachableError && /gave no complete answer/.test(error.message),
  )
  await assert.rejects(client.request('json'), {
    code: 'UNREACHABLE',
    message: 'the answer is not valid application/json',
  })
  await client.close()
  await assert.rejects(client.request('any'), { code: 'UNREACHABLE', message: 'the client is closed' })
  await assert.rejects(createClient('http://127.0.0.1:1').request('any'), { code: 'UNREACHABLE' })
  for (const wrong of ['nowhere', 'ftp://a', 'http://a/path'])
    assert.throws(() => createClient(wrong), {
      code: 'CONFIG',
      message: /createClient: cluster = .*: must be a cluster, or an address/,
    })
  assert.throws(() => createClient(url, { key: 'a b' }), { code: 'CONFIG', message: /key = '\(secret\)'/ })
})

test('a request has the maximum cost that it was given', async (t) => {
  const url = await answering(t, ({ headers }, response) => {
    response.setHeader('content-type', 'text/plain').end(headers['plimsoll-max-cost'])
  })
  await using client = createClient(url)
  assert.equal((await client.request('any', {}, { maxCost: '90s' })).result, '90s')
  await assert.rejects(client.request('any', {}, { maxCost: 'cheap' }), {
    code: 'CONFIG',
    message:
      "maxCost = 'cheap': must be CPU time such as 90s or 500ms, or a price such as price=0.02, and more than 0",
  })
})

test('the client has the key, the headers and the deadline that it was given', async (t) => {
  const url = await answering(t, ({ headers }, response) => {
    const { authorization, 'plimsoll-deadline': deadline, 'x-one': one } = headers
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ authorization, deadline, one }))
  })
  await using client = createClient(url, { key: 'k', deadlineMs: 50, headers: { 'x-one': '1' } })
  assert.deepEqual((await client.request('any')).result, {
    authorization: 'Bearer k',
    deadline: '50',
    one: '1',
  })
  const { result } = await client.request('any', {}, { deadlineMs: 9, headers: { 'x-one': '2' } })
  assert.deepEqual(result, { authorization: 'Bearer k', deadline: '9', one: '2' })
  await assert.rejects(client.request('any', {}, { deadlineMs: 0 }), {
    code: 'CONFIG',
    message: /deadlineMs = 0: must be a number/,
  })
})

/** A cluster that keeps requests; `results`: what it answers to those who ask for the result. */
async function keeping(t: Parameters<typeof answering>[0], results: (readonly [number, string])[]) {
  const asked: string[] = []
  const url = await answering(t, ({ method, url: path }, response) => {
    asked.push(`${method} ${path}`)
    response.setHeader('content-type', 'application/json').setHeader('retry-after', '1')
    if (method === 'POST')
      return response.setHeader('location', '/-/jobs/one').writeHead(202).end('{"id":"one"}')
    const [status, text] = (method === 'GET' && results.shift()) || [200, '{}']
    if (status === 200) response.setHeader('content-location', '/-/jobs/one/result')
    response.writeHead(status).end(text)
  })
  return { url, asked }
}

test('a request that the cluster keeps resolves with its result, unless a job was asked for', async (t) => {
  const { url, asked } = await keeping(t, [
    [202, '{"id":"one"}'],
    [503, '{}'],
    [200, '{"n":1}'],
  ])
  await using client = createClient(url)
  const { status, result } = await client.request('any')
  assert.deepEqual([status, result], [200, { n: 1 }])
  assert.deepEqual(asked, ['POST /any', ...Array(3).fill('GET /-/jobs/one/result')])
  const job = await client.request('any', {}, { headers: { Prefer: 'respond-async' } })
  assert.deepEqual([job.status, job.result], [202, { id: 'one' }])
})

test('an aborted request that the cluster keeps rejects with the reason, and its job is cancelled', async (t) => {
  const { url, asked } = await keeping(t, [])
  await using client = createClient(url)
  const abort = new AbortController()
  const request = client.request('any', {}, { signal: abort.signal })
  while (asked.length === 0) await new Promise((resolve) => setImmediate(resolve))
  const reason = new Error('enough')
  setTimeout(() => abort.abort(reason), 50)
  await assert.rejects(request, (error) => error === reason)
  assert.equal(asked.at(-1), 'DELETE /-/jobs/one')
})
