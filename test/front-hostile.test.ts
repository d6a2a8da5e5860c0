/** Clients that send invalid HTTP, too much, too slowly or only a part: each gets an error or a clean close. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  assertWell,
  dial,
  keptBodies,
  type Live,
  open,
  readAll,
  readUntil,
  sendRaw,
  until,
  untilIdle,
  useLive,
} from './support/live.ts'

const sizes = { maxBytes: 100_000, memoryBytes: 10_000 }
const live = useLive({ frontLimits: sizes })
/** Rejects requests that are not complete within half a second. */
const impatient = useLive({ frontLimits: { ...sizes, requestMs: 500 } })
const host = 'Host: x\r\n'

/** Asserts a complete error: a status line, and a problem document of the announced length. */
function assertRefused(text: string, status: number): void {
  assert.match(text, new RegExp(`^HTTP/1.1 ${status} `))
  const [head = '', body = ''] = text.split('\r\n\r\n')
  assert.match(head, /content-type: application\/problem\+json/i)
  assert.equal(Number(/content-length: (\d+)/i.exec(head)?.[1]), body.length)
  assert.equal(JSON.parse(body).status, status)
}

const garbage: [name: string, bytes: string | Buffer][] = [
  ['random bytes', Buffer.from(Array.from({ length: 500 }, (_, i) => (i * 7919) % 256))],
  ['NUL bytes', Buffer.alloc(100)],
  ['a NUL in the path', 'GET /echo\0 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a NUL in a header', 'GET /echo HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n'],
  ['bare line feeds', 'GET /echo HTTP/1.1\nHost: x\n\n'],
  ['a space before the colon', 'GET /echo HTTP/1.1\r\nHost : x\r\n\r\n'],
  ['a folded header', 'GET /echo HTTP/1.1\r\nHost: x\r\n A: b\r\n\r\n'],
  ['a wrong version', 'GET /echo HTTP/9.9\r\nHost: x\r\n\r\n'],
  ['an unknown method', 'BREW /echo HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['no host', 'GET /echo HTTP/1.1\r\n\r\n'],
  ['a length that is not a number', `POST /echo HTTP/1.1\r\n${host}Content-Length: ten\r\n\r\n`],
  ['a negative length', `POST /echo HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n`],
  ['two lengths', `POST /echo HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`],
  [
    'a length and chunks',
    `POST /echo HTTP/1.1\r\n${host}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  ['an unknown encoding', `POST /echo HTTP/1.1\r\n${host}Transfer-Encoding: chunked, x\r\n\r\n0\r\n\r\n`],
  [
    'an encoding besides chunked',
    `POST /echo HTTP/1.1\r\n${host}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
  ],
  [
    'chunked twice',
    `POST /echo HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  ['chunks in HTTP/1.0', `POST /echo HTTP/1.0\r\n${host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['two hosts', `GET /echo HTTP/1.1\r\n${host}Host: y\r\n\r\n`],
  ['the same host twice', `GET /echo HTTP/1.1\r\n${host}${host}\r\n`],
  [
    'bad chunks',
    `POST /mirror HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n`,
  ],
  [
    'a bad second chunk',
    `POST /mirror HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n-5\r\nb\r\n`,
  ],
]
for (const [name, bytes] of garbage) {
  test(`${name}: rejected, and the connection is closed`, async () => {
    const text = await sendRaw(live, bytes)
    if (name === 'no host') assert.match(text, /^HTTP\/1.1 400 /)
    else assertRefused(text, 400)
    await assertWell(live)
  })
}

test('nothing is served that follows an ambiguous request on its connection', async () => {
  const next = `GET /strict?n=4 HTTP/1.1\r\n${host}\r\n`
  const before = `GET /strict?n=3 HTTP/1.1\r\n${host}\r\n`
  for (const ambiguous of [
    `GET /echo HTTP/1.1\r\n${host}Host: y\r\n\r\n`,
    `GET /echo HTTP/0.9\r\n${host}\r\n`,
    `GET /echo\nX: y HTTP/1.1\r\n${host}\r\n`,
  ]) {
    const earlier = live.state().counters.results
    const text = await sendRaw(live, `${before}${ambiguous}${next}`)
    assert.deepEqual(
      [...text.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status),
      ['200', '400'],
    )
    await untilIdle(live)
    assert.equal(live.state().counters.results - earlier, 1)
  }
  await assertWell(live)
})

test('versions other than HTTP/1.1 and HTTP/1.0, and CONNECT, are rejected', async () => {
  for (const version of ['0.9', '2.0', '1.2'])
    assertRefused(await sendRaw(live, `GET /strict?n=4 HTTP/${version}\r\n${host}\r\n`), 400)
  assertRefused(await sendRaw(live, `CONNECT x:80 HTTP/1.1\r\n${host}\r\n`), 400)
  const pipelined = `GET /strict?n=4 HTTP/1.1\r\n${host}\r\nCONNECT x:80 HTTP/1.1\r\n${host}\r\n`
  assert.match(await sendRaw(live, pipelined), /^HTTP\/1.1 200 .*\r\n\r\n8HTTP\/1.1 400 /s)
  await assertWell(live)
})

test('an invalid target is a 400; unusual but valid ones are accepted', async () => {
  const ask = (target: string) => sendRaw(live, `GET ${target} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
  const invalid = [
    ...[
      '/%',
      '/%zz',
      '/%ff',
      '/echo%',
      '/echo%00',
      '/\\echo',
      '/echo#a',
      '/echo?a#b',
      '/../echo',
      '/..%2fecho',
    ],
    ...['http://', 'http://[/echo', 'http://user@host/echo'],
  ]
  for (const target of invalid) assertRefused(await ask(target), 400)
  for (const target of ['*', '//echo', '/-/../echo/..']) assertRefused(await ask(target), 404)
  assert.match(await ask('http://elsewhere:99/strict?n=4'), /^HTTP\/1.1 200 .*\r\n\r\n8$/s)
  assert.match(await ask('/echo?a=%zz&b=%00'), /^HTTP\/1.1 200 .*{"params":{"a":"%zz","b":"\\u0000"}/s)
  await assertWell(live)
})

test('a head that is too large is a 431, due to one header, many, or the target', async () => {
  const long = 'a'.repeat(20_000)
  const many = Array.from({ length: 2_000 }, (_, i) => `h${i}: 0123456789\r\n`).join('')
  assertRefused(await sendRaw(live, `GET /echo HTTP/1.1\r\n${host}A: ${long}\r\n\r\n`), 431)
  assertRefused(await sendRaw(live, `GET /echo HTTP/1.1\r\n${host}${many}\r\n`), 431)
  assertRefused(await sendRaw(live, `GET /echo?${long} HTTP/1.1\r\n${host}\r\n`), 431)
  assertRefused(await sendRaw(live, 'GET /echo HTTP/1.1\r\nA: ', Buffer.alloc(3_000_000, 'a')), 431)
  await assertWell(live)
})

test('a body that is too large is a 413 that arrives while the client still sends, with a length and in chunks', async () => {
  const large = Buffer.alloc(4_000_000, 'a')
  const length = `POST /mirror HTTP/1.1\r\n${host}Content-Length: 4000000\r\n\r\n`
  assertRefused(await sendRaw(live, length, large), 413)
  const chunked = `POST /mirror HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n3d0900\r\n`
  assertRefused(await sendRaw(live, chunked, large), 413)
  const answer = await fetch(`${live.url}/mirror`, { method: 'POST', body: large })
  assert.equal(answer.status, 413)
  await answer.text()
  await until(() => keptBodies().length === 0, 'no body is kept')
  await assertWell(live)
})

test('a client with Expect: 100-continue is told to send its body only if it is acceptable', async () => {
  const ask = async (path: string, bytes: number) => {
    const socket = dial(live)
    socket.write(
      `POST ${path} HTTP/1.1\r\n${host}Expect: 100-continue\r\nConnection: close\r\nContent-Length: ${bytes}\r\n\r\n`,
    )
    const first = await readUntil(socket, /\r\n\r\n/)
    if (first.startsWith('HTTP/1.1 100 ')) {
      socket.write('a'.repeat(bytes))
      return `100 ${await readAll(socket)}`
    }
    socket.end()
    return first
  }
  assert.match(await ask('/mirror', 5), /^100 HTTP\/1.1 200 .*\r\n\r\naaaaa$/s)
  assert.match(await ask('/mirror', 200_000), /^HTTP\/1.1 413 /)
  assert.match(await ask('/nope', 5), /^HTTP\/1.1 404 /)
  await assertWell(live)
})

test('a partial request followed by a close has no effect', async () => {
  for (const half of [
    'G',
    'GET /ec',
    `GET /echo HTTP/1.1\r\n${host}`,
    `POST /mirror HTTP/1.1\r\n${host}Content-Length: 50000\r\n\r\n${'a'.repeat(30_000)}`,
  ]) {
    for (const how of ['end', 'resetAndDestroy'] as const) {
      const socket = dial(live)
      await new Promise<void>((resolve) => socket.write(half, () => resolve()))
      socket[how]()
      await readAll(socket)
    }
  }
  await until(() => keptBodies().length === 0, 'no body is kept')
  await untilIdle(live)
  await assertWell(live)
})

test('a partial request followed by silence is a 408', async () => {
  const halves = [
    '',
    'GET /echo HT',
    `GET /echo HTTP/1.1\r\n${host}`,
    `POST /mirror HTTP/1.1\r\n${host}Content-Length: 50000\r\n\r\n${'a'.repeat(30_000)}`,
    `POST /mirror HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n5\r\nab`,
  ]
  for (const text of await Promise.all(halves.map((half) => sendRaw(impatient, half))))
    assertRefused(text, 408)
  await until(() => keptBodies().length === 0, 'no body is kept')
  await assertWell(live)
})

test('a request that arrives byte by byte is served within the time limit, and else a 408', async () => {
  const trickle = async (cluster: Live, text: string) => {
    const socket = dial(cluster)
    const all = readAll(socket)
    for (const byte of text) {
      if (!socket.writable) break
      socket.write(byte)
      await nextTurn()
    }
    return all
  }
  const head = `POST /strict HTTP/1.1\r\n${host}Connection: close\r\nContent-Type: application/json\r\nContent-Length:`
  assert.match(await trickle(live, `${head} 7\r\n\r\n{"n":1}`), /^HTTP\/1.1 200 .*\r\n\r\n2$/s)
  // Never complete, so that only the limit ends it.
  assertRefused(await trickle(impatient, `${head} 60000\r\n\r\n{"n":"${'1'.repeat(10_000)}`), 408)
  await assertWell(live)
})

test('pipelined requests are answered in order, including bad ones', async () => {
  open(live, 'p')
  const ask = (path: string, more = '') => `GET ${path} HTTP/1.1\r\n${host}${more}\r\n`
  const text = await sendRaw(
    live,
    ask('/gated?gate=p') + ask('/echo?i=1') + ask('/nope') + ask('/echo?i=2', 'Connection: close\r\n'),
  )
  const statuses = [...text.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status)
  assert.deepEqual(statuses, ['200', '200', '404', '200'])
  assert.ok(
    text.indexOf('opened') < text.indexOf('"i":"1"') && text.indexOf('"i":"1"') < text.indexOf('"i":"2"'),
  )
})

test('a connection serves many requests, even after errors', async () => {
  const socket = dial(live)
  for (const [path, status] of [
    ['/echo', 200],
    ['/nope', 404],
    ['/strict', 400],
    ['/fail', 500],
    ['/echo', 200],
  ]) {
    socket.write(`GET ${path} HTTP/1.1\r\n${host}\r\n`)
    await readUntil(socket, new RegExp(`^HTTP/1.1 ${status} [\\s\\S]*\r\n\r\n.`))
  }
  assert.equal(socket.closed, false)
  socket.destroy()
})

test('a hundred silent connections block nothing', async () => {
  const sockets = Array.from({ length: 100 }, () => dial(live))
  await assertWell(live)
  for (const socket of sockets) socket.destroy()
})

test('a job may take longer than the time limit of requests', async () => {
  const answer = fetch(`${impatient.url}/gated?gate=long`)
  await until(() => impatient.state().placed === 1, 'it runs')
  // A request that began later times out, so the limit has passed for this one too.
  assertRefused(await sendRaw(impatient, 'GET /echo HT'), 408)
  open(impatient, 'long')
  assert.equal(await (await answer).text(), 'opened')
})

test('a TLS greeting is answered with an alert, and the connection is closed', async () => {
  const answer = await sendRaw(live, Buffer.from('16030100a5010000a10303', 'hex'))
  assert.equal(Buffer.from(answer, 'latin1').toString('hex'), '15030100020246')
})
