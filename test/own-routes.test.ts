/** Routes of an existing server: matching, estimates, and whether a request may be repeated. */

import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import test, { afterEach } from 'node:test'
import type { QuoteDocument } from '../src/estimate/quote.ts'
import type { LedgerRow } from '../src/ledger/ledger.ts'
import { type Attempt, fail } from './support/fake-worker.ts'
import { problemOf, until } from './support/live.ts'
import { useOwn } from './support/own-live.ts'

const program: RequestListener = (_incoming, response) => response.end('done')
const own = useOwn(program, {
  routes: [
    { name: 'render', path: '/render/:scene', methods: ['GET', 'POST'] },
    { name: 'sized', path: '/sized', features: { width: 'query.width', depth: 'json.options.depth' } },
    {
      name: 'counted',
      path: '/counted/**',
      features: ({ query, headers, bytes, method, path }) => ({
        pixels: Number(query.w) * Number(query.h),
        kind: headers['x-kind'] ?? '',
        bytes,
        method,
        rest: path['**'] ?? '',
      }),
    },
    { name: 'troubled', path: '/troubled', features: () => ({ a: {} as never }) },
    { name: 'twice', path: '/again', methods: ['POST'], repeat: true },
    { name: 'once', path: '/once', repeat: false, preemptible: false, deadlineMs: 60_000 },
    { name: 'units', path: '/units/:size' },
    { name: 'rest', path: '/rest/**' },
  ],
})
/** Serves too few requests to fit a model of their costs, by which quotes would follow the machine's speed. */
const fresh = useOwn(program, {
  routes: [{ name: 'render', path: '/render/:scene', methods: ['GET', 'POST'] }],
})
const earning = useOwn(program, { routes: [{ name: 'render', path: '/render/:scene' }] })
afterEach(() => {
  own.fake.instead = undefined
  own.fake.cost = { measure: 'cpu', work: 1000, cpuMs: 1, wallMs: 2 }
})

const post = (path: string, json: unknown, headers: Record<string, string> = {}) =>
  fetch(own.url + path, {
    method: 'POST',
    body: JSON.stringify(json),
    headers: { 'content-type': 'application/json', ...headers },
  })

async function rowOf(answer: Response): Promise<LedgerRow> {
  assert.equal(answer.status, 200, await answer.clone().text())
  await answer.text()
  const job = answer.headers.get('plimsoll-job')
  for (const workload of own.workloads) {
    await own.ledger.flush()
    const found = (await own.ledger.recent({ workload, limit: 1000 })).find((row) => row.job === job)
    if (found) return found
  }
  throw new Error(`no row of ${job}`)
}

const featuresOf = async (answer: Response) => JSON.parse((await rowOf(answer)).features)

test('the first matching route is used; its name is in the ledger and in the list', async () => {
  const { workload, parameters, measure, codeHash } = await rowOf(await fetch(`${own.url}/render/city?x=1`))
  assert.deepEqual([workload, measure], ['render', 'cpu'])
  assert.deepEqual(JSON.parse(parameters), { method: 'GET', target: '/render/city?x=1' })
  assert.match(codeHash, /^[0-9a-f]{64}:cpu$/)
  const { workloads } = (await (await fetch(`${own.url}/-/workloads`)).json()) as {
    workloads: object[]
  }
  assert.deepEqual(workloads[0], {
    name: 'render',
    description: 'GET, POST, HEAD /render/:scene',
    path: '/render/:scene',
    methods: ['GET', 'POST', 'HEAD'],
  })
})

test('a path without a route is a 404 that lists the routes; a wrong method is a 405 that lists the allowed ones', async () => {
  const none = await problemOf(fetch(`${own.url}/render/a/b`), 404)
  assert.equal(none.code, 'no-route')
  assert.match(
    none.detail,
    /There is no route for \/render\/a\/b\. There are: GET, POST, HEAD \/render\/:scene; any /,
  )
  assert.equal((none.routes as string[]).length, 8)
  const wrong = await problemOf(fetch(`${own.url}/render/a`, { method: 'DELETE' }), 405)
  assert.equal(wrong.headers.get('allow'), 'GET, POST, HEAD')
  assert.equal((await fetch(`${own.url}/render/a`, { method: 'HEAD' })).status, 200)
  await problemOf(fetch(`${own.url}/-/nothing`), 404)
})

test('a route without configured features uses path, query, method, JSON fields and the size of the body', async () => {
  const answer = await post('/render/city%20two?width=3&width=4', { depth: 5, options: { fast: true } })
  assert.deepEqual(await featuresOf(answer), {
    'body.bytes': 35,
    method: 'POST',
    'method.length': 4,
    'path.scene': 'city two',
    'path.scene.length': 8,
    'query.width': '3',
    'json.depth': 5,
    'json.options.fast': true,
  })
  const parts = await featuresOf(await fetch(`${own.url}/rest/a/7`))
  assert.deepEqual([parts['path.1'], parts['path.2']], ['a', '7'])
})

test('configured features are extracted, and omitted if absent', async () => {
  const json = { options: { depth: 9 } }
  assert.deepEqual(await featuresOf(await post('/sized?width=12', json)), { width: '12', depth: 9 })
  assert.deepEqual(await featuresOf(await fetch(`${own.url}/sized?width=12`)), { width: '12' })
  assert.deepEqual(await featuresOf(await post('/sized', { options: { depth: 'x'.repeat(70_000) } })), {})
})

test('a features function sees the whole request; invalid results are logged once, and default features are used', async () => {
  const answer = await post('/counted/a/b?w=6&h=7', [1], { 'x-kind': 'odd' })
  assert.deepEqual(await featuresOf(answer), {
    pixels: 42,
    kind: 'odd',
    bytes: 3,
    method: 'POST',
    rest: 'a/b',
  })
  for (let i = 0; i < 2; i++) {
    assert.equal((await featuresOf(await fetch(`${own.url}/troubled?n=5`)))['query.n'], '5')
  }
  const told = own.lines.filter((line) => line.startsWith('route troubled: its features are invalid'))
  assert.equal(told.length, 1)
})

test('JSON that is invalid, too deeply nested, or of another content type is still passed on', async () => {
  const types = { 'content-type': 'application/json' }
  for (const body of ['{', '['.repeat(300) + ']'.repeat(300), '\u0000']) {
    const features = await featuresOf(
      await fetch(`${own.url}/render/x`, { method: 'POST', body, headers: types }),
    )
    assert.equal(features['body.bytes'], body.length)
  }
  const features = await featuresOf(await fetch(`${own.url}/render/x`, { method: 'POST', body: '{"a":1}' }))
  assert.equal(features['json.a'], undefined)
})

test('equal requests have the same key; method, target and body count', async () => {
  const key = async (answer: Promise<Response>) => (await rowOf(await answer)).key
  const one = await key(post('/render/k', { a: 1 }))
  assert.equal(await key(post('/render/k', { a: 1 })), one)
  const others = [
    await key(post('/render/k', { a: 2 })),
    await key(post('/render/k?x', { a: 1 })),
    await key(fetch(`${own.url}/render/k`)),
    // A long body is estimated before it has arrived, so its key is always unique.
    await key(post('/render/k', { a: 'x'.repeat(100_000) })),
    await key(post('/render/k', { a: 'x'.repeat(100_000) })),
  ]
  assert.equal(new Set([one, ...others]).size, 6)
})

test('a quote is at /-/estimate followed by the path of the request, with its method in a header', async () => {
  await (await fetch(`${fresh.url}/render/quoted?n=1`)).text()
  const attempts = fresh.fake.attempts.length
  const quote = (await (await fetch(`${fresh.url}/-/estimate/render/quoted?n=1`)).json()) as QuoteDocument
  assert.deepEqual([quote.workload, quote.source, quote.work], ['render', 'memo', 1000])
  assert.deepEqual([quote.seconds.expected, quote.waitSeconds], [0.001, 0])
  const other = await fetch(`${fresh.url}/-/estimate/render/quoted?n=1`, {
    method: 'POST',
    body: '{"n":1}',
    headers: { 'plimsoll-method': 'POST' },
  })
  assert.notEqual(((await other.json()) as QuoteDocument).source, 'memo')
  assert.equal(fresh.fake.attempts.length, attempts)
  await problemOf(
    fetch(`${fresh.url}/-/estimate/render/x`, { headers: { 'plimsoll-method': 'DELETE' } }),
    405,
  )
  const odd = await problemOf(
    fetch(`${fresh.url}/-/estimate/render/x`, { headers: { 'plimsoll-method': 'get it' } }),
    400,
  )
  assert.match(odd.detail, /plimsoll-method = get it: must be a method/)
  await problemOf(fetch(`${fresh.url}/-/estimate/nowhere`), 404)
})

test('a program that reports its work in a header is estimated in its units; the brain uses microseconds', async () => {
  own.fake.cost = { measure: 'header', work: 50, cpuMs: 20, wallMs: 30 }
  const row = await rowOf(await fetch(`${own.url}/units/5`))
  assert.deepEqual([row.measure, row.work, row.codeHash.slice(-7)], ['header', 50, ':header'])
  const answer = await fetch(`${own.url}/units/5`)
  assert.equal(answer.headers.get('plimsoll-work'), '50')
  await answer.text()
  const quote = (await (await fetch(`${own.url}/-/estimate/units/5`)).json()) as QuoteDocument
  assert.deepEqual([quote.work, quote.seconds.expected], [50, 0.02])
  const { work, workload } = own.fake.attempts.at(-1)!
  assert.deepEqual([workload, Math.round(work)], ['units', 20_000])
})

test('a request that must not be repeated asks for permission to start; others do not', async () => {
  const asks = async (path: string, init: RequestInit = {}) => {
    await (await fetch(own.url + path, init)).text()
    return own.fake.attempts.at(-1)!.ask
  }
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']) {
    assert.equal(await asks('/rest/x', { method }), false, method)
  }
  assert.equal(await asks('/rest/x', { method: 'POST' }), true)
  assert.equal(await asks('/rest/x', { method: 'PATCH' }), true)
  assert.equal(await asks('/rest/x', { method: 'POST', headers: { 'Idempotency-Key': 'k' } }), false)
  assert.equal(await asks('/again', { method: 'POST' }), false)
  assert.equal(await asks('/once'), true)
  assert.equal(own.fake.attempts.at(-1)!.preemptible, false)
})

test('a lost request is sent again with its body; if it must not be repeated, its outcome is unknown', async () => {
  const body = 'x'.repeat(2_000_000)
  const lose = (outcome: 'crash' | 'killed') => {
    own.fake.instead = (attempt: Attempt) => {
      own.fake.instead = undefined
      attempt.request.once('data', () => fail(attempt.response, outcome, 'gone'))
    }
  }
  lose('killed')
  const put = await fetch(`${own.url}/rest/x`, { method: 'PUT', body })
  assert.deepEqual([put.status, put.headers.get('plimsoll-attempts')], [200, '2'])
  own.fake.instead = ({ response, head }) => {
    assert.equal(head.ask, true)
    void own.fake.go(head).then(() => response.destroy())
  }
  const lost = await problemOf(fetch(`${own.url}/rest/x`, { method: 'POST', body: 'pay' }), 502)
  assert.equal(lost.code, 'outcome-unknown')
  await until(() => own.state().workers.every(({ suspect }) => !suspect), 'the worker has reported again')
})

test('a route ranks no requests by estimates that have not been proven', async () => {
  const attempt = async (path: string) => {
    await (await fetch(earning.url + path)).text()
    return earning.fake.attempts.at(-1)!
  }
  assert.equal((await attempt('/render/new?n=1')).unproven, true)
  assert.equal((await attempt('/render/new?n=1')).unproven, undefined)
})

test('a deadline of the route or of the request ends the request', async () => {
  own.fake.instead = () => {}
  const late = await problemOf(fetch(`${own.url}/rest/x`, { headers: { 'plimsoll-deadline': '300' } }), 504)
  assert.match(late.code, /deadline|no-time/)
  own.fake.instead = undefined
  await problemOf(fetch(`${own.url}/rest/x`, { headers: { 'plimsoll-deadline': 'soon' } }), 400)
})
