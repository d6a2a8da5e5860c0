/** Requests to an existing server: they and their answers pass the front unchanged. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type IncomingMessage, type RequestOptions, request } from 'node:http'
import { connect } from 'node:net'
import test from 'node:test'
import { headers } from '../src/wire/messages.ts'
import { readAll } from './support/live.ts'
import { useOwn } from './support/own-live.ts'

const own = useOwn((incoming, response) => {
  const url = new URL(incoming.url!, 'http://x')
  const hash = createHash('sha256')
  let bytes = 0
  incoming.on('data', (chunk: Buffer) => {
    hash.update(chunk)
    bytes += chunk.length
  })
  incoming.on('end', () => {
    const { pathname: path, searchParams } = url
    if (path === '/seen') {
      const seen = { method: incoming.method, url: incoming.url, raw: incoming.rawHeaders, bytes }
      const trailers = incoming.rawTrailers
      response.end(JSON.stringify({ ...seen, sha256: hash.digest('hex'), trailers }))
    } else if (path === '/bytes') {
      const size = Number(searchParams.get('size'))
      response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': size })
      response.end(Buffer.alloc(size, 'abcdefghij'))
    } else if (path === '/status') {
      const status = Number(searchParams.get('code'))
      response.writeHead(status, searchParams.get('say') ?? 'Said', [
        ...['Set-Cookie', 'a=1', 'set-cookie', 'b=2', 'X-Odd', 'ä\xff'],
        ...['Content-Length', status === 204 || status === 304 ? '0' : '2'],
      ])
      response.end(status === 204 || status === 304 ? undefined : 'ok')
    } else if (path === '/trailers') {
      response.writeHead(200, { trailer: 'x-sum' })
      response.write('with ')
      response.addTrailers({ 'x-sum': '12' })
      response.end('trailers')
    } else if (path === '/chunks') {
      response.write('one ')
      setImmediate(() => response.end('two'))
    } else if (path === '/hints') {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' })
      response.end('hinted')
    } else response.writeHead(404).end('not here')
  })
})

interface Came {
  status: number
  message: string
  raw: string[]
  body: Buffer
  trailers: string[]
}

function send(
  base: string,
  path: string,
  options: RequestOptions = {},
  body?: (call: ReturnType<typeof request>) => void,
): Promise<Came> {
  return new Promise((resolve, reject) => {
    const call = request(
      new URL(base).origin,
      { path, agent: false, ...options },
      async (answer: IncomingMessage) => {
        try {
          const body = Buffer.concat(await answer.toArray())
          const {
            statusCode: status = 0,
            statusMessage: message = '',
            rawHeaders: raw,
            rawTrailers: trailers,
          } = answer
          resolve({ status, message, raw, body, trailers })
        } catch (error) {
          reject(error as Error)
        }
      },
    )
    call.on('error', reject)
    if (body) body(call)
    else call.end()
  })
}

const ours = /^(plimsoll-(job|worker|attempts|work)|server-timing)$/
/** Without hop-by-hop headers, which each hop sets again. */
const programs = (raw: string[]) =>
  raw.flatMap((name, i) =>
    i % 2 || ours.test(name) || /^(connection|keep-alive|date|transfer-encoding|trailer)$/i.test(name)
      ? []
      : [[name, raw[i + 1]]],
  )

async function assertSame(path: string, options: RequestOptions = {}, body?: Buffer): Promise<Came> {
  const write = body && ((call: ReturnType<typeof request>) => void call.end(body))
  const [direct, through] = [
    await send(own.direct, path, options, write),
    await send(own.url, path, options, write),
  ]
  assert.deepEqual([through.status, through.message], [direct.status, direct.message], path)
  assert.deepEqual(programs(through.raw), programs(direct.raw), path)
  assert.ok(through.body.equals(direct.body), path)
  assert.deepEqual(through.trailers, direct.trailers)
  return through
}

test('answers are the same as direct ones: statuses, messages, several cookies, odd letters, HEAD, ranges of sizes', async () => {
  for (const code of [200, 201, 204, 206, 301, 304, 404, 418, 500, 599])
    await assertSame(`/status?code=${code}`)
  await assertSame('/status?code=200&say=')
  for (const method of ['HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND']) {
    await assertSame('/status?code=200', { method })
  }
  for (const size of [0, 1, 65_536, 262_144, 262_145, 5_000_000]) {
    await assertSame(`/bytes?size=${size}`)
    await assertSame(`/bytes?size=${size}`, { method: 'HEAD' })
  }
  await assertSame('/chunks')
  await assertSame('/nowhere')
})

test('an answer carries its job id in addition to the program’s headers', async () => {
  const { raw } = await assertSame('/status?code=200')
  const fields = Object.fromEntries(
    raw.flatMap((name, i) => (i % 2 ? [] : [[name.toLowerCase(), raw[i + 1]]])),
  )
  assert.equal(fields['plimsoll-worker'], 'fake')
  assert.equal(fields['plimsoll-attempts'], '1')
  assert.equal(fields['plimsoll-work'], '1000')
  assert.match(fields['plimsoll-job'] ?? '', /^\w+-\w+$/)
  assert.match(fields['server-timing'] ?? '', /^estimate;dur=/)
})

test('trailers of answers are announced and arrive', async () => {
  const { trailers, raw } = await assertSame('/trailers')
  assert.deepEqual(trailers, ['x-sum', '12'])
  assert.equal(raw[raw.indexOf('trailer') + 1], 'x-sum')
})

test('early hints are not passed on', async () => {
  const { status, body } = await send(own.url, '/hints')
  assert.deepEqual([status, body.toString()], [200, 'hinted'])
})

test('a request arrives with its method, target, headers in original order and case, and body', async () => {
  const body = Buffer.alloc(3_000_000, 'xyz')
  const answer = await send(
    own.url,
    '/seen?a=1&a=2&b=%20%zz;c',
    {
      method: 'PROPFIND',
      headers: [
        ...['Host', 'example.org', 'X-B', '1', 'x-a', 'ÿ', 'X-B', '2', 'plimsoll-deadline', '60000'],
        ...['Connection', 'x-private', 'x-private', 'gone', 'Keep-Alive', '5', 'TE', 'trailers'],
        ...[
          'Proxy-Authorization',
          'secret',
          'X-Forwarded-For',
          '10.0.0.9',
          'content-length',
          `${body.length}`,
        ],
      ],
    },
    (call) => call.end(body),
  )
  const { method, url, raw, bytes, sha256 } = JSON.parse(answer.body.toString())
  assert.deepEqual([method, url, bytes], ['PROPFIND', '/seen?a=1&a=2&b=%20%zz;c', body.length])
  assert.equal(sha256, createHash('sha256').update(body).digest('hex'))
  const kept = raw.slice(0, raw.indexOf('x-forwarded-for'))
  assert.deepEqual(kept, [
    ...['Host', 'example.org', 'X-B', '1', 'x-a', 'ÿ', 'X-B', '2', 'plimsoll-deadline', '60000'],
    ...['content-length', `${body.length}`],
  ])
  const added = raw.slice(kept.length, kept.length + 6)
  assert.deepEqual(added, [
    ...['x-forwarded-for', '127.0.0.1', 'x-forwarded-proto', 'http'],
    ...['x-forwarded-host', 'example.org'],
  ])
})

for (const [what, chunks] of [
  ['no', []],
  ['one', ['whole']],
  ['several', ['a', 'b'.repeat(100_000), 'c']],
] as const) {
  test(`a body in ${what} chunks arrives with its trailers`, async () => {
    const answer = await send(own.url, '/seen', { method: 'POST' }, (call) => {
      call.flushHeaders()
      for (const chunk of chunks) call.write(chunk)
      call.addTrailers({ 'X-Check': 'sum' })
      call.end()
    })
    const { bytes, trailers, raw } = JSON.parse(answer.body.toString())
    assert.equal(bytes, chunks.join('').length)
    assert.deepEqual(trailers, ['X-Check', 'sum'])
    assert.ok(raw.includes('chunked'))
  })
}

test('a client with Expect: 100-continue gets a 100, and the program does not see the header', async () => {
  const body = Buffer.alloc(100_000, 'x')
  const options = { method: 'PUT', headers: { expect: '100-continue', 'content-length': body.length } }
  const answer = await send(own.url, '/seen', options, (call) => {
    call.flushHeaders()
    call.on('continue', () => call.end(body))
  })
  const { bytes, raw } = JSON.parse(answer.body.toString())
  assert.equal(bytes, body.length)
  assert.ok(!raw.some((name: string) => /expect/i.test(name)))
})

test('an HTTP/1.0 client gets an answer that it can parse', async () => {
  const { port } = new URL(own.url)
  for (const path of ['/chunks', '/trailers']) {
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(`GET ${path} HTTP/1.0\r\nHost: x\r\n\r\n`)
    const text = await readAll(socket)
    assert.match(text, /^HTTP\/1\.1 200 OK\r\n/)
    assert.match(text, /\r\n\r\n(one two|with trailers)$/)
  }
})

test('targets in absolute form, with two slashes, or * are accepted', async () => {
  const { url } = JSON.parse((await send(own.url, 'http://example.org/seen?x')).body.toString())
  assert.equal(url, '/seen?x')
  assert.equal((await send(own.url, '//seen')).status, (await send(own.direct, '//seen')).status)
  const { raw } = JSON.parse(
    (await send(own.url, 'http://example.org:99/seen', { headers: { host: 'other' } })).body.toString(),
  )
  assert.equal(raw[raw.indexOf('host') + 1], 'example.org:99')
  assert.deepEqual((await send(own.url, '*', { method: 'OPTIONS' })).body.toString(), 'not here')
})

test('an answer that violates the worker protocol is not passed on', async () => {
  own.fake.instead = ({ response }) => {
    own.fake.instead = undefined
    const json = '{"status":200,"message":"a\\r\\nb","headers":[]}'
    response.writeHead(200, { [headers.outcome]: 'result', [headers.headBytes]: json.length })
    response.end(json)
  }
  const { status, raw } = await send(own.url, '/chunks')
  assert.equal(status, 200)
  assert.equal(raw[raw.indexOf('plimsoll-attempts') + 1], '2')
})
