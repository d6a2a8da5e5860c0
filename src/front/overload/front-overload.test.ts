/** The effects of an overload on real connections. Readings are given; each look is made by the test. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { type RequestProblem, sendProblem } from '../problem.ts'
import { FrontOverload } from './front-overload.ts'
import { OverloadWatch } from './overload-watch.ts'
import type { Readings } from './steps.ts'

interface Options {
  clientConnections?: number
  clientRequests?: number
  holdMs?: number
}

/** A server that answers with the length of the body, under an overload that the test sets. */
async function protectedServer(t: TestContext, options: Options = {}) {
  const { clientConnections = 100, clientRequests = 100, holdMs = 60_000 } = options
  const lines: string[] = []
  let readings: Readings = {}
  let now = 0
  const reader = { read: () => readings, close() {} }
  const watch = new OverloadWatch({
    reader,
    now: () => now,
    log: (line) => lines.push(line),
    everyMs: 2 ** 30,
  })
  const overload = new FrontOverload({ watch, limits: { clientConnections, clientRequests }, holdMs })
  const release = Promise.withResolvers<void>()
  const server = createServer(async (request, response) => {
    try {
      response.once('close', overload.enter('client'))
      if (overload.closesConnections) response.shouldKeepAlive = false
      await overload.admitBody(request)
      let bytes = 0
      for await (const chunk of request) bytes += (chunk as Buffer).length
      if (request.url === '/slow') await release.promise
      response.end(`${bytes} bytes`)
    } catch (error) {
      sendProblem(response, error as RequestProblem)
    }
  })
  overload.guard(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    watch.close()
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return {
    ...{ watch, lines, release },
    /** Takes readings, and `calmMs` later the same. */
    reads(next: Readings, calmMs = 0) {
      readings = next
      watch.look()
      now += calmMs
      watch.look()
    },
    dial() {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
      socket.on('error', () => {})
      t.after(() => socket.destroy())
      return socket
    },
  }
}

/** Reads until the text matches, or the connection is closed. */
async function readUntil(socket: Socket, pattern: RegExp): Promise<string> {
  let text = ''
  const { promise, resolve } = Promise.withResolvers<void>()
  const take = (bytes: Buffer) => {
    text += bytes.toString('latin1')
    if (pattern.test(text)) resolve()
  }
  socket.on('data', take).once('end', resolve).once('close', resolve)
  await promise
  socket.off('data', take)
  return text
}

const get = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'
const post = (bytes: number) => `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${bytes}\r\n\r\n`
const ended = /\r\n\r\n.*(bytes|\})/s

test('the delay of the event loop is part of the status', async (t) => {
  const { watch, reads } = await protectedServer(t)
  assert.equal(watch.status().loopMs, undefined)
  for (const [loop, loopMs] of [
    [0.04, 0],
    [12.34, 12.3],
    [2_000, 2_000],
  ] as const) {
    reads({ loop })
    assert.equal(watch.status().loopMs, loopMs)
  }
  reads({})
  assert.equal(watch.status().loopMs, undefined)
})

test('in step 3 new connections are refused with a reason, and existing ones close after their next answer', async (t) => {
  const { reads, dial, watch, lines } = await protectedServer(t)
  const before = dial()
  before.write(get)
  assert.match(await readUntil(before, ended), /^HTTP\/1.1 200 .*connection: keep-alive.*0 bytes$/is)
  reads({ descriptors: 0.97 })
  assert.equal(watch.step, 3)
  assert.match(
    lines[0]!,
    /overload: step 3 of 3, refuses new connections: open descriptors are at 97 % of their limit/,
  )
  const refused = dial()
  const text = await readUntil(refused, ended)
  assert.match(text, /^HTTP\/1.1 503 Service Unavailable\r\n/)
  assert.match(text, /retry-after: [5-7]\r\n/)
  assert.match(text, /"type":"urn:plimsoll:overloaded"/)
  before.write(get)
  assert.match(await readUntil(before, ended), /^HTTP\/1.1 200 .*connection: close/is)
  assert.equal(watch.status().refusedConnections, 1)
  for (let step = 3; step > 0; step--) reads({ descriptors: 0.1 }, 2_000)
  assert.equal(watch.step, 0)
  assert.match(
    lines.at(-1)!,
    /overload: step 0 of 3, accepts everything; so far 0 requests shed, 1 connections/,
  )
  const after = dial()
  after.write(get)
  assert.match(await readUntil(after, ended), /^HTTP\/1.1 200 /)
})

test('more refused connections than can linger are closed at once', async (t) => {
  const { reads, dial, watch } = await protectedServer(t)
  reads({ memory: 1 })
  const sockets = Array.from({ length: 100 }, dial)
  const texts = await Promise.all(sockets.map((socket) => readUntil(socket, /$^/)))
  const answered = texts.filter((text) => text.startsWith('HTTP/1.1 503 ')).length
  assert.ok(answered >= 64, `${answered} answered`)
  assert.equal(watch.status().refusedConnections, 100)
})

test('one client has a maximum of connections, and may have others when it closes some', async (t) => {
  const { dial, watch } = await protectedServer(t, { clientConnections: 2 })
  const [one, two] = [dial(), dial()]
  for (const socket of [one, two]) {
    socket.write(get)
    assert.match(await readUntil(socket, ended), /^HTTP\/1.1 200 /)
  }
  const third = await readUntil(dial(), ended)
  assert.match(third, /^HTTP\/1.1 429 .*too-many-connections.*has 2 open connections/s)
  assert.equal(watch.status().refusedConnections, 1)
  one.destroy()
  await once(one, 'close')
  // The server learns of the close soon afterwards.
  let answer = ''
  while (!answer.startsWith('HTTP/1.1 200 ')) {
    const next = dial()
    next.write(get)
    answer = await readUntil(next, ended)
    next.destroy()
  }
})

test('one client has a maximum of requests in progress', async (t) => {
  const { dial, watch, release } = await protectedServer(t, { clientRequests: 1 })
  const slow = dial()
  slow.write('GET /slow HTTP/1.1\r\nhost: x\r\n\r\n')
  const other = dial()
  let refused = ''
  // Until the slow request has arrived, the other one is served.
  while (!refused.startsWith('HTTP/1.1 429 ')) {
    other.write(get)
    refused = await readUntil(other, ended)
  }
  assert.match(refused, /retry-after: [12]\r\n.*too-many-requests.*has 1 requests in progress/s)
  assert.ok(watch.status().refusedRequests >= 1)
  release.resolve()
  assert.match(await readUntil(slow, ended), /^HTTP\/1.1 200 /)
})

test('in step 1 large bodies wait unread, small ones do not, and all are read when the overload ends', async (t) => {
  const { reads, dial, watch } = await protectedServer(t)
  reads({ memory: 0.81 })
  assert.equal(watch.step, 1)
  const small = dial()
  small.write(`${post(5)}abcde`)
  assert.match(await readUntil(small, ended), /5 bytes$/)
  const bytes = 8 * 1024 * 1024
  const large = dial()
  large.write(post(bytes))
  const body = Buffer.alloc(bytes, 'x')
  const sent = new Promise<void>((resolve) => large.write(body, () => resolve()))
  const answer = readUntil(large, ended)
  while (watch.status().held === 0) await new Promise((resolve) => setImmediate(resolve))
  // The client cannot send its body: the sockets' buffers are smaller.
  const isSent = await Promise.race([
    sent.then(() => true),
    new Promise((resolve) => setTimeout(resolve, 50, false)),
  ])
  assert.equal(isSent, false)
  reads({ memory: 0.1 }, 2_000)
  assert.equal(watch.step, 0)
  assert.match(await answer, new RegExp(`^HTTP/1.1 200 .*${bytes} bytes$`, 's'))
  assert.equal(watch.status().held, 0)
})

test('a body that waits too long is refused, and its connection closed', async (t) => {
  const { reads, dial, watch } = await protectedServer(t, { holdMs: 20 })
  reads({ memory: 0.81 })
  const large = dial()
  large.write(post(1_000_000))
  assert.match(
    await readUntil(large, ended),
    /^HTTP\/1.1 503 .*retry-after: [5-7].*connection: close.*overloaded/is,
  )
  assert.deepEqual([watch.status().held, watch.status().shed], [0, 1])
})
