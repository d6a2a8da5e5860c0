import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressOf, type Served } from './served.ts'

const served: Served[] = [
  { name: 'primes', description: '', path: '/primes', methods: ['GET', 'HEAD'], query: ['below'] },
  { name: 'upload', description: '', path: '/upload/:name', methods: ['PUT', 'POST'], query: [] },
  { name: 'rest', description: '', path: '/**', methods: [] },
]
const address = (workload: string, params = {}, hasBody = false) =>
  addressOf('estimate', { workload, params }, served, hasBody)

test('a workload is addressed by its name, with or without a slash', () => {
  const list = [{ name: 'julia', description: '', path: '/julia' }]
  for (const workload of ['julia', '/julia']) {
    const { method, path, isRoute } = addressOf('request', { workload, params: {} }, list)
    assert.deepEqual([method, path, isRoute], ['POST', '/julia', false])
  }
})

test('a route is addressed by its name or by a path, with its method', () => {
  assert.deepEqual(address('primes', { below: '9' }), {
    ...{ method: 'GET', path: '/primes', params: { below: '9' }, isRoute: true },
  })
  assert.equal(address('/work', { ms: '40' }).path, '/work')
  assert.deepEqual(address('upload', { name: 'a b' }, true), {
    ...{ method: 'POST', path: '/upload/a%20b', params: {}, isRoute: true },
  })
  assert.equal(address('upload', { name: 'x' }).method, 'PUT')
})

test('an unknown route, a missing part of its path and a route of any path are errors that say what to give', () => {
  assert.throws(() => address('work', { ms: '40' }), {
    code: 'CONFIG',
    message:
      'estimate: work is not a route of this server. Routes are primes, upload, rest; a path starts with a slash, such as /work',
  })
  assert.throws(() => address('primse'), /did you mean primes\?/i)
  assert.throws(() => address('upload'), /route upload is \/upload\/:name: must be given name=VALUE/)
  assert.throws(
    () => address('rest'),
    /route rest is \/\*\*: give a path that matches it in place of rest, for example \w+ \/some\/path$/,
  )
})

test('a parameter on which no estimate depends is named', () => {
  assert.match(
    address('primes', { belw: '9' }).note!,
    /^belw: not among the parameters .* route primes .*\(below\)$/,
  )
  assert.equal(address('/primes', { belw: '9' }).note, undefined)
})
