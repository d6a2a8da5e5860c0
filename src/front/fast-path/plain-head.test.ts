import assert from 'node:assert/strict'
import test from 'node:test'
import { readPlainHead } from './plain-head.ts'

const headOf = (...lines: string[]) => readPlainHead(lines.join('\r\n'), undefined)

const usual = [
  ['GET / HTTP/1.1', 'Host: a'],
  ['GET /a/b.c?d=e&f=%20 HTTP/1.1', 'Host: a:8080', 'User-Agent: curl/8.5.0', 'Accept: */*'],
  ['HEAD /~x/(y)!$&*+,;=:@[]{}|^`"<> HTTP/1.1', 'host:a', 'x:', 'y: \xe9\t\xff'],
  ['POST /a HTTP/1.1', 'Host: a', 'Content-Length: 12', 'Connection: Keep-Alive', 'TE: trailers'],
  ['DELETE /a HTTP/1.1', 'Host: a', 'Cookie: a=b; c="d"', 'Cookie: e=f', 'content-length: 0'],
]

test('usual requests are read', () => {
  for (const [line, ...fields] of usual) {
    const head = headOf(line!, ...fields)
    assert.ok(head, line)
    assert.equal(`${head.method} ${head.target} HTTP/1.1`, line)
    assert.equal(head.fields.raw.length, 2 * fields.length)
  }
  assert.deepEqual(headOf('GET / HTTP/1.1', 'Host:\t a b \t', 'X:')?.fields.raw, ['Host', 'a b', 'X', ''])
  assert.equal(headOf(...usual[3]!)?.fields.length, 12)
  assert.equal(headOf(...usual[0]!)?.fields.length, undefined)
})

test('anything that changes the connection, or that parsers read in different ways, is left to Node', () => {
  const first = 'GET / HTTP/1.1'
  for (const lines of [
    ...[
      [''],
      [first],
      [first, 'X: a'],
      [first, 'Host: a', 'Host: a'],
      [first, 'Host : a'],
      [first, 'Host: a', ''],
    ],
    ...[
      ['get / HTTP/1.1', 'Host: a'],
      ['GET  / HTTP/1.1', 'Host: a'],
      ['GET / HTTP/1.0', 'Host: a'],
      ['GET / HTTP/1.1 ', 'Host: a'],
      ['GET http://a/ HTTP/1.1', 'Host: a'],
      ['GET * HTTP/1.1', 'Host: a'],
      ['GET /# HTTP/1.1', 'Host: a'],
      ['GET /\xe9 HTTP/1.1', 'Host: a'],
      ['GET /\t HTTP/1.1', 'Host: a'],
      ['GET/ HTTP/1.1', 'Host: a'],
      ['', first, 'Host: a'],
    ],
    ...[
      ...['Transfer-Encoding: chunked', 'Upgrade: h2c', 'Expect: 100-continue', 'Connection: close'],
      ...['Connection: keep-alive, x', 'Proxy-Connection: close', 'Content-Length: +1', 'Content-Length:'],
      ...[
        ' folded',
        'X\r: a',
        'X: \ra',
        'X: a\nY: b',
        'X: \0',
        'X: \x7f',
        'no colon',
        ': a',
        'X y: a',
        'é: a',
      ],
    ].map((line) => [first, 'Host: a', line]),
    [first, 'Host: a', 'Content-Length: 1', 'Content-Length: 1'],
    [first, 'Host: a', ...Array<string>(100).fill('X: a')],
  ])
    assert.equal(headOf(...lines), undefined, JSON.stringify(lines).slice(0, 100))
})

test('equal headers are shared', () => {
  const one = headOf('GET /1 HTTP/1.1', 'Host: a')!
  const two = readPlainHead('GET /2 HTTP/1.1\r\nHost: a', one.fields)!
  assert.equal(two.fields, one.fields)
  assert.equal(two.target, '/2')
  const other = readPlainHead('GET /2 HTTP/1.1\r\nHost: b', one.fields)!
  assert.deepEqual(other.fields.raw, ['Host', 'b'])
})
