/** The path of a request to an existing server: routes match the path that the program receives. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { sendRaw } from './support/live.ts'
import { useOwn } from './support/own-live.ts'

const own = useOwn(
  (incoming, response) => response.end(JSON.stringify({ url: incoming.url, raw: incoming.rawHeaders })),
  {
    routes: [
      { name: 'admin', path: '/admin/**', methods: ['POST'] },
      { name: 'files', path: '/files/:name' },
      { name: 'rest', path: '/**' },
    ],
  },
)
const trusting = useOwn(
  (incoming, response) => response.end(JSON.stringify({ url: incoming.url, raw: incoming.rawHeaders })),
  {},
  { frontLimits: { trustedProxies: ['127.0.0.0/8'] } },
)

const ask = (target: string, headers = '', live = own) =>
  sendRaw(live, `GET ${target} HTTP/1.1\r\nHost: x\r\n${headers}Connection: close\r\n\r\n`)
const seen = (text: string) => JSON.parse(text.slice(text.indexOf('{'))) as { url: string; raw: string[] }

test('the program receives the path by which the request was routed', async () => {
  const routed: [target: string, route: string, url: string][] = [
    ['/files/a?x=../b', 'files', '/files/a?x=../b'],
    ['/x/../files/a', 'files', '/files/a'],
    ['/x/%2e%2E/files/./a', 'files', '/files/a'],
    ['/admin/../x', 'rest', '/x'],
    ['/files/a%2fb', 'files', '/files/a%2fb'],
    ['/files//a', 'rest', '/files//a'],
    ['//admin/x', 'rest', '//admin/x'],
    ['/%61dmin', 'rest', '/%61dmin'],
    ['/files/%ff', 'files', '/files/%ff'],
    ['/a;b=c/d', 'rest', '/a;b=c/d'],
  ]
  for (const [target, route, url] of routed) {
    assert.equal(seen(await ask(target)).url, url)
    assert.equal(own.fake.attempts.at(-1)!.workload, route, target)
  }
})

test('a path that the program may read differently is a 400', async () => {
  const before = own.fake.attempts.length
  for (const target of [
    '/x\\..\\admin',
    '/..',
    '/files/..%2fadmin',
    '/x/..;/admin',
    '/%zz',
    '/a%00',
    '/a#b',
  ]) {
    assert.match(await ask(target), /^HTTP\/1.1 400 .*urn:plimsoll:bad-url/s, target)
  }
  assert.equal(own.fake.attempts.length, before)
})

test('forwarded headers are believed only from trusted proxies', async () => {
  const headers = 'X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\nForwarded: for=192.0.2.1\r\n'
  const sentAs = (raw: string[], name: string) =>
    raw.find((_, i) => i % 2 === 1 && raw[i - 1]!.toLowerCase() === name)
  const { raw } = seen(await ask('/a', headers))
  assert.deepEqual(
    ['x-forwarded-for', 'x-forwarded-proto', 'forwarded'].map((name) => sentAs(raw, name)),
    ['127.0.0.1', 'http', undefined],
  )
  const passed = seen(await ask('/a', headers, trusting)).raw
  assert.deepEqual(
    ['x-forwarded-for', 'x-forwarded-proto', 'forwarded'].map((name) => sentAs(passed, name)),
    ['192.0.2.1, 127.0.0.1', 'https', 'for=192.0.2.1, for=127.0.0.1;proto=http'],
  )
})

test('two hosts, and encodings other than chunked, never reach the program', async () => {
  const before = own.fake.attempts.length
  for (const headers of [
    'Host: y\r\n',
    'Transfer-Encoding: gzip, chunked\r\n',
    'Transfer-Encoding: identity\r\n',
  ]) {
    assert.match(await ask('/a', headers), /^HTTP\/1.1 400 /, headers)
  }
  const both = 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n'
  assert.match(await ask('/a', both), /^HTTP\/1.1 400 /)
  assert.equal(own.fake.attempts.length, before)
})
