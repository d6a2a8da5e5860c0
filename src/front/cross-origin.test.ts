import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { ConfigError } from '../lib/errors.ts'
import { crossOrigin, preflight, readOrigins } from './cross-origin.ts'

const request = (headers: Record<string, string>, method = 'GET') =>
  ({ method, headers }) as unknown as IncomingMessage
const shop = 'https://shop.example'

test('without allowed origins nothing is added', () => {
  assert.equal(crossOrigin([]), undefined)
})

test('only allowed origins are named, and caches are told that answers differ', () => {
  const fields = crossOrigin([shop])!
  assert.deepEqual(fields(request({ origin: shop })), {
    vary: 'Origin',
    'access-control-allow-origin': shop,
    'access-control-expose-headers': '*',
  })
  for (const headers of [{ origin: 'https://other.example' }, { origin: 'null' }, {}])
    assert.deepEqual(fields(request(headers as Record<string, string>)), { vary: 'Origin' })
})

test('* allows all pages alike', () => {
  const fields = crossOrigin(['*'])!
  assert.equal(fields(request({ origin: shop }))!['access-control-allow-origin'], '*')
  assert.deepEqual(fields(request({})), {})
})

test('a preflight request is told the methods, and the headers that it asked for', () => {
  const asks = { origin: shop, 'access-control-request-method': 'POST' }
  const told = preflight(request({ ...asks, 'access-control-request-headers': 'content-type' }, 'OPTIONS'))
  assert.equal(told!['access-control-allow-methods'], 'GET, HEAD, POST')
  assert.equal(told!['access-control-allow-headers'], 'content-type')
  assert.equal(preflight(request(asks, 'GET')), undefined)
  assert.equal(preflight(request({ origin: shop }, 'OPTIONS')), undefined)
})

test('invalid origins are rejected by name', () => {
  assert.deepEqual(readOrigins(`${shop}, http://localhost:3000`, '--cors'), [shop, 'http://localhost:3000'])
  for (const text of ['shop.example', `${shop}/`, `${shop}/page`, '', `${shop},`, 'https://Shop.example'])
    assert.throws(
      () => readOrigins(text, '--cors'),
      (error: ConfigError) => error instanceof ConfigError && error.message.startsWith('--cors = '),
      text,
    )
})
