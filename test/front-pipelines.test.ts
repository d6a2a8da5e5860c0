/** Clients that send garbage after valid requests, or close their side and wait: valid requests are answered. */

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import test from 'node:test'
import { assertWell, dial, open, readAll, sendRaw, until, untilIdle, useLive } from './support/live.ts'

const live = useLive()
const host = 'Host: x\r\n'

/** Without informational responses. */
const statusesIn = (text: string) =>
  [...text.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status).filter((status) => status !== '102')

test('requests before garbage are answered, then the garbage is a 400', async () => {
  const socket = dial(live)
  const ask = (path: string) => `GET ${path} HTTP/1.1\r\n${host}\r\n`
  socket.write(`${ask('/gated?gate=before')}${ask('/echo?i=1')}\0\0\0garbage\r\n\r\n`)
  const all = readAll(socket)
  await until(() => live.state().placed === 1, 'the first runs')
  socket.write('more garbage')
  open(live, 'before')
  const text = await all
  const statuses = statusesIn(text)
  assert.deepEqual(statuses, ['200', '200', '400'])
  assert.match(text, /\r\nconnection: close\r\n\r\n{"type":"urn:plimsoll:bad-request".*}\n$/)
  await untilIdle(live)
  await assertWell(live)
})

test('requests before garbage are answered even if the client closes its side after it', async () => {
  const socket = connect({ port: Number(new URL(live.url).port), allowHalfOpen: true })
  const ask = (i: number) => `GET /echo?i=${i} HTTP/1.1\r\n${host}\r\n`
  socket.end(`${ask(1)}${ask(2)}\0\0\0garbage\r\n\r\n`)
  const text = await readAll(socket)
  const statuses = statusesIn(text)
  assert.deepEqual(statuses, ['200', '200', '400'])
})

test('a request whose chunks are garbage is a 400 after the answers to requests before it', async () => {
  open(live, 'chunks')
  const text = await sendRaw(
    live,
    `GET /gated?gate=chunks HTTP/1.1\r\n${host}\r\n`,
    `POST /mirror HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\nzz\r\n`,
  )
  const statuses = statusesIn(text)
  assert.deepEqual(statuses, ['200', '400'])
  await untilIdle(live)
  await assertWell(live)
})

test('a client that disconnects after garbage ends its jobs', async () => {
  const socket = dial(live)
  socket.write(`GET /gated?gate=never HTTP/1.1\r\n${host}\r\n\0\0\0`)
  await until(() => live.state().jobs === 1, 'it has arrived')
  socket.destroy()
  await untilIdle(live)
  await assertWell(live)
})

for (const version of ['1.0', '1.1']) {
  test(`a client of HTTP/${version} that has closed its side after its request gets its answer`, async () => {
    const gate = `half-${version}`
    const socket = connect({ port: Number(new URL(live.url).port), allowHalfOpen: true })
    socket.end(`GET /gated?gate=${gate} HTTP/${version}\r\n${host}\r\n`)
    const text = readAll(socket)
    await until(() => live.state().placed === 1, 'it runs')
    if (version === '1.1') await until(() => socket.bytesRead > 0, 'the front has probed the connection')
    open(live, gate)
    assert.match(await text, /^(HTTP\/1.1 102 Processing\r\n\r\n)*HTTP\/1.1 200 OK\r\n.*opened$/s)
    await untilIdle(live)
  })
}

test('all pipelined requests of a client that has closed its side are answered', async () => {
  const socket = connect({ port: Number(new URL(live.url).port), allowHalfOpen: true })
  const ask = (i: number) => `GET /echo?i=${i} HTTP/1.1\r\n${host}\r\n`
  socket.end(ask(1) + ask(2) + ask(3))
  const text = await readAll(socket)
  assert.deepEqual(text.match(/"i":"\d"/g), ['"i":"1"', '"i":"2"', '"i":"3"'])
})
