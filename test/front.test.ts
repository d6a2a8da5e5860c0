/** Requests over HTTP: parameters, routes, headers, deadlines and the queue. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { request } from 'undici'
import { assertWell, open, problemOf, storyOf, until, untilIdle, useLive } from './support/live.ts'

const live = useLive({ queue: 1, slots: 1 })
const exposing = useLive({ frontLimits: { exposeErrors: true } })
const get = (path: string, init?: RequestInit) => fetch(live.url + path, init)
const post = (path: string, body: string, type = 'application/json') =>
  get(path, { method: 'POST', body, headers: { 'content-type': type } })

test('a missing, wrong-typed, negative, huge, unknown or too long parameter is a 400 that names it', async () => {
  const cases: [query: string, names: RegExp][] = [
    ['', /^n: /],
    ['n=abc', /^n: /],
    ['n=1.5', /^n: /],
    ['n=-1', /^n: /],
    ['n=1e300', /^n: /],
    [`n=${'9'.repeat(5_000)}`, /^n: /],
    ['n=1&tag=abcdefghijk', /^tag: /],
    ['n=1&colour=red', /colour/],
  ]
  for (const [query, names] of cases) {
    const { code, detail, errors } = await problemOf(get(`/strict?${query}`), 400)
    assert.equal(code, 'bad-parameters')
    assert.match(detail, names)
    assert.ok(JSON.stringify(errors).length < 1_000, 'the error quotes the value in full')
  }
  await assertWell(live)
})

test('a parameter that is given twice, even once in the query and once in the body, is a 400', async () => {
  assert.match((await problemOf(get('/echo?n=1&n=2'), 400)).detail, /^n: given more than once/)
  assert.match((await problemOf(post('/echo?n=1', '{"n":1}'), 400)).detail, /^n: given in the query and/)
})

test('a body declared as JSON that is invalid or not an object is a 400', async () => {
  for (const body of ['', '{', 'nope', '{"n":1}{', '[1]', '1', '"x"', 'null', '\0']) {
    assert.equal((await problemOf(post('/echo', body), 400)).code, 'bad-json')
  }
  await assertWell(live)
})

test('very deeply nested JSON is a 400, and the worker survives', async () => {
  const deep = `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`
  assert.match((await problemOf(post('/echo', deep), 400)).detail, /nested deeper/)
  assert.equal(live.state().workers[0]!.suspect, false)
  const shallow = JSON.stringify({ text: '["\\'.repeat(1_000), list: Array(1_000).fill([{}]) })
  assert.equal((await post('/echo', shallow)).status, 200)
  await assertWell(live)
})

test('parameters named like properties of Object.prototype are accepted', async () => {
  const body = '{"__proto__":{"n":1},"constructor":2}'
  const answer = await (await post('/echo?toString=3', body)).text()
  assert.match(answer, /"params":{"toString":"3","__proto__":{"n":1},"constructor":2}/)
  assert.match((await problemOf(post('/strict', '{"__proto__":{"n":1}}'), 400)).detail, /n: /)
})

test('a thousand invalid values give a short answer', async () => {
  const wrong = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`k${i}`, 1]))
  const { detail } = await problemOf(post('/strict', JSON.stringify(wrong)), 400)
  assert.ok(detail.length < 1_000)
})

test('a JSON body is parsed as parameters, also in addition to a query', async () => {
  const answer = await post('/echo?a=1', '{"b":[2],"c":"ü"}', 'Application/JSON; charset=utf-8')
  assert.deepEqual(await answer.json(), { params: { a: '1', b: [2], c: 'ü' }, attempt: 1 })
})

test('an unknown path is a 404 that lists the workloads', async () => {
  for (const path of ['/', '/nope', '/echo/', '/ECHO', '/__proto__', '/a%2fecho', '/-/nope']) {
    await problemOf(get(path), 404)
  }
  assert.match((await problemOf(get('/nope'), 404)).detail, /\/echo, \/strict/)
})

test('a wrong method is a 405 that lists the allowed ones', async () => {
  const { headers } = await problemOf(get('/echo', { method: 'DELETE' }), 405)
  assert.equal(headers.get('allow'), 'GET, HEAD, POST')
  const own = await problemOf(get('/-/health', { method: 'POST', body: 'x' }), 405)
  assert.equal(own.headers.get('allow'), 'GET, HEAD')
})

test("HEAD has GET's headers and no body, for answers and for problems", async () => {
  for (const path of ['/strict?n=1', '/strict', '/nope', '/-/health']) {
    const [answer, head] = [await get(path), await get(path, { method: 'HEAD' })]
    assert.equal(head.status, answer.status)
    assert.equal(await head.text(), '')
    for (const name of ['content-type', 'content-length'])
      assert.equal(head.headers.get(name), answer.headers.get(name))
    assert.ok((await answer.text()).length > 0)
  }
})

test('an answer carries its job, worker, attempts, work and timing', async () => {
  const { headers } = await get('/echo')
  assert.match(headers.get('plimsoll-job')!, /^[0-9a-z]{9}-[0-9a-f]{16}$/)
  assert.equal(headers.get('plimsoll-worker'), live.state().workers[0]!.id)
  assert.equal(headers.get('plimsoll-attempts'), '1')
  assert.ok(Number(headers.get('plimsoll-work')) > 0)
  assert.match(headers.get('server-timing')!, /^estimate;dur=[\d.]+, queue;dur=[\d.]+, run;dur=[\d.]+$/)
})

test('an error is a problem with its account but without its message, and is not retried', async () => {
  const { code, detail, headers, job } = await problemOf(get('/fail'), 500)
  const lookUp = `The workload failed. The operator can see why with: plimsoll why ${job}`
  assert.deepEqual([code, detail], ['workload-error', lookUp])
  assert.equal(job, headers.get('plimsoll-job'))
  assert.match(await storyOf(live, headers), /no such thing ☹/)
  await until(
    () => live.lines.some((line) => line.includes(`job ${job}: workload fail: Error: no such thing`)),
    'it is logged',
  )
  await until(
    () => live.lines.some((line) => /job \S+: +at .*door\.ts:\d+/.test(line)),
    'its stack is logged',
  )
  assert.equal(headers.get('plimsoll-attempts'), '1')
  assert.match(headers.get('server-timing')!, /run;dur=/)
  assert.ok(headers.get('plimsoll-job') && headers.get('plimsoll-work'))
  const refused = await problemOf(get('/fail?status=404'), 404)
  assert.equal(refused.detail, 'no such thing ☹')
  await problemOf(get('/fail?status=200'), 500)
})

test('a cluster that exposes errors shows clients their messages and stacks', async () => {
  const { detail, stack } = await problemOf(fetch(`${exposing.url}/fail`), 500)
  assert.equal(detail, 'no such thing ☹')
  assert.match(String(stack), /^Error: no such thing ☹\n +at .*door\.ts:\d+/)
  const crash = await problemOf(fetch(`${exposing.url}/quit`), 502)
  assert.match(crash.detail, /Last failure: the process of workload quit exited with code 3\.$/)
})

test('a job that crashes slot after slot is rejected as poison', async () => {
  const { code, detail, headers } = await problemOf(get('/quit'), 502)
  assert.equal(code, 'poison')
  assert.match(detail, /^It crashed its process 3 times\. The operator can see why with: plimsoll why \S+$/)
  assert.equal(headers.get('plimsoll-attempts'), '3')
  await assertWell(live)
})

test('a job that must not be repeated runs, and is not retried after a crash', async () => {
  assert.equal(await (await post('/once', '{}')).text(), 'done once')
  const { code, headers } = await problemOf(post('/once?quit=1', '{}'), 502)
  assert.deepEqual([code, headers.get('plimsoll-attempts')], ['outcome-unknown', '1'])
})

test('GET and HEAD never run work that must not be repeated; they may ask what it would cost', async () => {
  const before = live.state().counters.accepted
  const { headers, detail } = await problemOf(get('/once'), 405)
  assert.equal(headers.get('allow'), 'POST')
  assert.equal(detail, 'GET is not allowed for work that must not be repeated; allowed: POST.')
  const head = await get('/once', { method: 'HEAD' })
  assert.deepEqual([head.status, head.headers.get('allow')], [405, 'POST'])
  assert.equal(live.state().counters.accepted, before)
  assert.equal((await get('/-/estimate/once')).status, 200)
})

test('an empty result is a 204 without length or type', async () => {
  const answer = await get('/nothing')
  assert.equal(answer.status, 204)
  assert.deepEqual([answer.headers.get('content-length'), answer.headers.get('content-type')], [null, null])
  assert.equal(await answer.text(), '')
})

test('a workload cannot set headers that frame the message', async () => {
  const answer = await get('/rude')
  assert.equal(answer.status, 201)
  assert.equal(answer.headers.get('content-type'), 'text/x-rude')
  assert.equal(answer.headers.get('x-own'), 'ü')
  assert.equal(await answer.text(), 'hello')
})

test('a deadline that is not a positive number is a 400', async () => {
  for (const deadline of ['', 'soon', '-5', '0', 'NaN', 'Infinity', '1,2']) {
    const answer = get('/echo', { headers: { 'plimsoll-deadline': deadline } })
    assert.equal((await problemOf(answer, 400)).code, 'bad-deadline', deadline)
  }
})

test('a deadline that is met changes nothing, however distant', async () => {
  for (const deadline of ['600000', '1e11', '1e300']) {
    const answer = await get('/echo', { headers: { 'plimsoll-deadline': deadline } })
    assert.equal(answer.status, 200)
  }
})

test('a job whose deadline passes is a 504, and is stopped', async () => {
  const { code, headers } = await problemOf(get('/endless', { headers: { 'plimsoll-deadline': '50' } }), 504)
  assert.equal(code, 'deadline')
  assert.ok(headers.get('plimsoll-job'))
  await untilIdle(live)
  await assertWell(live)
})

test('a full queue is a 503 with Retry-After', async () => {
  const runs = get('/gated?gate=g1')
  await until(() => live.state().placed === 1, 'the slot is taken')
  const waits = get('/gated?gate=g1')
  await until(() => live.state().waiting.length === 1, 'one is queued')
  const { code, headers } = await problemOf(get('/echo'), 503)
  assert.equal(code, 'queue-full')
  assert.match(headers.get('retry-after')!, /^[1-9]\d*$/)
  assert.ok(headers.get('plimsoll-job') && headers.get('server-timing'))
  open(live, 'g1')
  for (const answer of await Promise.all([runs, waits])) assert.equal(await answer.text(), 'opened')
  await untilIdle(live)
})

test('a client that asks for it learns the id of its job before the answer, and others do not', async () => {
  const announced = async (headers: Record<string, string>) => {
    const ids: unknown[] = []
    const onInfo = (info: { headers: Record<string, unknown> }) => void ids.push(info.headers['plimsoll-job'])
    const answer = await request(`${live.url}/echo?n=1`, { headers, onInfo })
    await answer.body.dump()
    return { ids, job: answer.headers['plimsoll-job'] }
  }
  const { ids, job } = await announced({ 'plimsoll-announce': 'job' })
  assert.deepEqual(ids, [job])
  assert.deepEqual((await announced({})).ids, [])
})
