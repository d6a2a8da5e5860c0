import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { serveCache } from '../../admin/cache.ts'
import { keptHeader, writeKeptHead } from '../../wire/cache-messages.ts'
import { newTokens } from '../../wire/token.ts'
import { answerCache, type CountedCache } from './answer-cache.ts'
import { sharedCache } from './shared-cache.ts'

const mostBytes = 80_000
const tokens = newTokens()
const key = createHash('sha256').update('question').digest('base64url')
const kept = (body: string | Buffer, fields = {}) => ({
  answer: { status: 200, fields, body: Buffer.from(body) },
  account: { 'plimsoll-job': 'j1' },
  ageMs: 10,
})

/** The cache of a front with this coordinator. */
async function front(t: TestContext, answer: RequestListener, limitMs = 20_000) {
  const state = { isUp: true, requests: 0 }
  const server = createServer((request, response) => {
    state.requests++
    answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const join = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const cache = sharedCache({
    join: () => join,
    token: tokens.front,
    mostBytes,
    isUp: () => state.isUp,
    limitMs,
  })
  t.after(() => {
    cache.close()
    server.close()
    server.closeAllConnections()
  })
  return { cache, state, server }
}

/** Resolves after a put. */
function watched(): { cache: CountedCache; put: Promise<void> } {
  const inside = answerCache({ mostBytes, now: () => performance.now() })
  const { promise, resolve } = Promise.withResolvers<void>()
  const put: CountedCache['put'] = (...args) => {
    inside.put(...args)
    resolve()
  }
  return { cache: { ...inside, put }, put: promise }
}

test('one front reads what another put, with its age, and the coordinator counts', async (t) => {
  const { cache: inside, put } = watched()
  const serve: RequestListener = (request, response) =>
    void serveCache({ tokens, cache: inside }, request, response)
  const [one, other] = [await front(t, serve), await front(t, serve)]
  assert.equal(await one.cache.get(key), undefined)
  one.cache.put(key, kept('body', { 'x-a': 'é' }), 60_000)
  await put
  const found = (await other.cache.get(key))!
  assert.deepEqual(found.answer, { status: 200, fields: { 'x-a': 'é' }, body: Buffer.from('body') })
  assert.deepEqual(found.account, { 'plimsoll-job': 'j1' })
  assert.ok(found.ageMs >= 10 && found.leftMs < 60_000 - 10 + 1e-6)
  const { hits, misses } = inside.counters()
  assert.deepEqual([hits, misses], [1, 1])
})

test('an answer that expires on its way is a miss', async (t) => {
  const head = writeKeptHead({ status: 200, fields: {}, account: {}, ageMs: 1000, goodMs: 0 })!
  const { cache } = await front(t, (_, response) =>
    response.writeHead(200, { [keptHeader]: head }).end('old'),
  )
  assert.equal(await cache.get(key), undefined)
})

test('an answer with a malformed head is a miss', async (t) => {
  for (const headers of [{}, { [keptHeader]: '{' }]) {
    const { cache } = await front(t, (_, response) => response.writeHead(200, headers).end('x'))
    assert.equal(await cache.get(key), undefined)
  }
})

test('while the link is down nothing is read or put', async (t) => {
  const { cache, state } = await front(t, (_, response) => response.writeHead(404).end())
  state.isUp = false
  assert.equal(cache.get(key), undefined)
  cache.put(key, kept('x'), Infinity)
  state.isUp = true
  assert.equal(await cache.get(key), undefined)
  assert.equal(state.requests, 1)
})

test('a coordinator that does not answer is a miss, and the next requests do not wait for it', async (t) => {
  const limit = new AbortController()
  t.mock.method(AbortSignal, 'timeout', () => limit.signal)
  const asked = Promise.withResolvers<void>()
  const { cache, state } = await front(t, () => asked.resolve())
  const found = cache.get(key)
  await asked.promise
  limit.abort()
  assert.equal(await found, undefined)
  assert.equal(cache.get(key), undefined)
  cache.put(key, kept('x'), Infinity)
  assert.equal(state.requests, 1)
})

test('a coordinator that breaks off, or is unreachable, is a miss', async (t) => {
  const head = writeKeptHead({ status: 200, fields: {}, account: {}, ageMs: 0 })!
  const broken = await front(t, (_, response) => {
    response.writeHead(200, { [keptHeader]: head, 'content-length': 9 })
    response.write('half', () => response.destroy())
  })
  assert.equal(await broken.cache.get(key), undefined)
  const away = await front(t, () => {})
  away.server.close()
  await once(away.server, 'close')
  assert.equal(await away.cache.get(key), undefined)
})

test('an answer that is too large for the cache is not sent', async (t) => {
  const { cache, state } = await front(t, (_, response) => response.writeHead(404).end())
  cache.put(key, kept(Buffer.alloc(cache.mostAnswerBytes + 1)), Infinity)
  cache.put(key, kept('x', { long: 'x'.repeat(13_000) }), Infinity)
  assert.equal(await cache.get(key), undefined)
  assert.equal(state.requests, 1)
})
