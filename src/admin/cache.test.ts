import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import test, { type TestContext } from 'node:test'
import { answerCache } from '../front/cache/answer-cache.ts'
import { type RequestProblem, sendProblem } from '../front/problem.ts'
import { keptHeader, readKeptHead, writeKeptHead } from '../wire/cache-messages.ts'
import { bearer, newTokens } from '../wire/token.ts'
import { serveCache } from './cache.ts'

const tokens = newTokens()

const key = createHash('sha256').update('question').digest('base64url')
const path = `/api/cache/${key}`
const head = { status: 200, fields: { 'content-type': 'text/plain' }, account: {}, ageMs: 10 }
const kept = writeKeptHead(head)!
const mostBytes = 80_000

/** A coordinator that has only a cache. */
async function coordinator(t: TestContext, hasCache = true) {
  const cache = answerCache({ mostBytes, now: () => performance.now() })
  const server = createServer((request, response) => {
    try {
      serveCache({ tokens, cache: hasCache ? cache : undefined }, request, response)
    } catch (error) {
      sendProblem(response, error as RequestProblem)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const ask = (method: string, at = path, headers: Record<string, string> = {}, body?: string) =>
    fetch(`http://127.0.0.1:${port}${at}`, {
      method,
      headers: { authorization: bearer(tokens.front), ...headers },
      ...(body !== undefined && { body }),
    })
  return { cache, ask, port }
}

test('a cached answer is returned unchanged, with its time in the cache added to its age', async (t) => {
  const { cache, ask } = await coordinator(t)
  assert.equal((await ask('GET')).status, 404)
  const fields = { 'x-text': 'é "quoted" \u007f' }
  const full = { ...head, fields, account: { 'plimsoll-job': 'j1' }, goodMs: 60_000 }
  assert.equal((await ask('PUT', path, { [keptHeader]: writeKeptHead(full)! }, 'body')).status, 204)
  const answer = await ask('GET')
  const { ageMs, goodMs, ...rest } = readKeptHead(answer.headers.get(keptHeader))!
  assert.deepEqual(rest, { status: 200, fields, account: full.account })
  assert.ok(ageMs >= 10)
  assert.ok(Math.abs(ageMs + goodMs! - 60_000) < 1e-6)
  assert.equal(await answer.text(), 'body')
  const { hits, misses, entries } = cache.counters()
  assert.deepEqual({ hits, misses, entries }, { hits: 1, misses: 1, entries: 1 })
})

test('without the token nothing is read or changed', async (t) => {
  const { cache, ask } = await coordinator(t)
  for (const authorization of ['', 'Bearer other', 'secret']) {
    for (const method of ['GET', 'PUT']) {
      const body = method === 'PUT' ? 'x' : undefined
      assert.equal((await ask(method, path, { authorization, [keptHeader]: kept }, body)).status, 401)
    }
  }
  const { hits, misses, entries } = cache.counters()
  assert.deepEqual([hits, misses, entries], [0, 0, 0])
})

test('an invalid key, head or method is refused with an explanation', async (t) => {
  const { cache, ask } = await coordinator(t)
  for (const at of ['', 'short', `${key}x`, `${key}?a`, `${'a'.repeat(42)}%`]) {
    assert.equal((await ask('GET', `/api/cache/${at}`)).status, 404)
  }
  const heads = [
    '',
    '{',
    'null',
    '[]',
    '{}',
    JSON.stringify({ ...head, status: 500 }),
    JSON.stringify({ ...head, ageMs: -1 }),
    JSON.stringify({ ...head, ageMs: '1' }),
    JSON.stringify({ ...head, goodMs: 'x' }),
    JSON.stringify({ ...head, fields: { a: 1 } }),
    JSON.stringify({ ...head, account: [] }),
  ]
  for (const bad of heads) assert.equal((await ask('PUT', path, { [keptHeader]: bad }, 'x')).status, 400, bad)
  const deleted = await ask('DELETE')
  assert.deepEqual([deleted.status, deleted.headers.get('allow')], [405, 'GET, PUT'])
  assert.equal(cache.counters().entries, 0)
})

test('a body that is too large, announced or not, or that breaks off is not cached', async (t) => {
  const { cache, ask, port } = await coordinator(t)
  const long = 'x'.repeat(cache.mostAnswerBytes + 1)
  const refused = await ask('PUT', path, { [keptHeader]: kept }, long)
  assert.equal(refused.status, 413)
  assert.match(await refused.text(), /10000 bytes/)
  const start = `PUT ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${bearer(tokens.front)}\r\n${keptHeader}: ${kept}\r\n`
  const size = long.length.toString(16)
  for (const rest of [
    `transfer-encoding: chunked\r\n\r\n${size}\r\n${long}\r\n0\r\n\r\n`,
    'content-length: 9\r\n\r\nshort',
  ]) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.resume().end(start + rest)
    await once(socket, 'close')
  }
  assert.equal((await ask('GET')).status, 404)
  assert.equal(cache.counters().entries, 0)
})

test('an answer whose headers do not fit in one header is not returned', async (t) => {
  const { cache, ask } = await coordinator(t)
  const fields = { long: 'x'.repeat(13_000) }
  assert.equal(writeKeptHead({ ...head, fields }), undefined)
  cache.put(key, { answer: { status: 200, fields, body: Buffer.from('x') }, account: {}, ageMs: 0 }, 60_000)
  assert.equal((await ask('GET')).status, 404)
})

test('a cluster without a cache answers 404', async (t) => {
  const { ask } = await coordinator(t, false)
  const answer = await ask('GET')
  assert.equal(answer.status, 404)
  assert.match(await answer.text(), /has no cache/)
})
