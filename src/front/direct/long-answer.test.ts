import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { ReadBuffers, readBufferBytes } from '../../lib/read-buffers.ts'
import type { LongSink } from '../receiver.ts'
import { longestBody } from './answer-reader.ts'
import type { ProgramCall } from './program-connection.ts'
import { ProgramLink } from './program-link.ts'
import { fakeProgram } from './testing/fake-program.ts'

const length = 4 * longestBody
const body = Buffer.from(Array.from({ length }, (_, i) => (i * 7) % 253))
const headOf = (bytes: number) => `HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n`
const get = 'GET / HTTP/1.1\r\n\r\n'

/** A client that takes chunks when the test says so. */
class TestClient implements LongSink {
  readonly #got: Buffer[] = []
  readonly untaken: { chunk: Buffer; taken: () => void }[] = []
  isQuick = true
  isKept = false
  isEnded = false
  isBroken = false
  /** The most chunks that were in flight. */
  most = 0

  pass(chunk: Buffer, taken: () => void): void {
    if (this.isKept) {
      this.#got.push(Buffer.from(chunk))
      return taken()
    }
    this.untaken.push({ chunk, taken })
    this.most = Math.max(this.most, this.untaken.length)
    if (this.isQuick) process.nextTick(() => this.take())
  }

  /** What is in flight must not have been overwritten. */
  take(): void {
    for (const { chunk, taken } of this.untaken.splice(0)) {
      this.#got.push(Buffer.from(chunk))
      taken()
    }
  }

  keep(): void {
    this.take()
    this.isKept = true
  }

  end(): void {
    this.isEnded = true
  }

  breakOff(): void {
    this.isBroken = true
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#got)
  }
}

interface Streamed {
  link: ProgramLink
  client: TestClient
  socket: Socket
  first(): Buffer
  /** How it ended. */
  result: Promise<string>
  now: { ms: number }
  cancel(): void
}

async function stream(t: TestContext, buffers = new ReadBuffers()): Promise<Streamed> {
  const program = await fakeProgram(t)
  const now = { ms: 0 }
  const link = new ProgramLink(program.address, () => now.ms, buffers)
  t.after(() => link.retire())
  const client = new TestClient()
  const { promise: result, resolve } = Promise.withResolvers<string>()
  let first: Buffer = Buffer.alloc(0)
  const call: ProgramCall = {
    ...{ method: 'GET', mayRepeat: true, odd: () => resolve('odd') },
    answered: () => resolve('answered'),
    begins(_, given) {
      first = Buffer.concat(given)
      return client
    },
    completed: () => resolve('completed'),
    brokenOff: () => resolve('broken off'),
    failed: resolve,
    lasts: () => resolve('lasts'),
  }
  const connection = link.send(get, call)
  const { socket } = await program.next()
  return { link, client, socket, first: () => first, result, now, cancel: () => connection.cancel() }
}

const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 1))
}

test('a long answer is passed on as it arrives, and its connection is used again', async (t) => {
  const { link, client, socket, first, result } = await stream(t)
  socket.write(headOf(length))
  socket.write(body)
  assert.equal(await result, 'completed')
  await until(() => client.untaken.length === 0)
  assert.ok(Buffer.concat([first(), client.bytes]).equals(body))
  assert.deepEqual([client.isEnded, client.isBroken, client.isKept], [true, false, false])
  assert.deepEqual([link.pending, link.answering], [0, 0])
  assert.equal(socket.destroyed, false)
})

test('no more than two chunks are in flight, and none is overwritten', async (t) => {
  const { client, socket, first, result } = await stream(t)
  client.isQuick = false
  socket.write(headOf(length))
  socket.write(body)
  while (!client.isEnded) {
    await until(() => client.untaken.length === 2 || client.isEnded)
    assert.ok(client.most <= 2)
    client.take()
  }
  client.take()
  assert.equal(await result, 'completed')
  assert.ok(Buffer.concat([first(), client.bytes]).equals(body))
})

test('a program waits for its client for half a second in all; then the answer is kept', async (t) => {
  const { link, client, socket, now, result, first } = await stream(t)
  client.isQuick = false
  socket.write(headOf(length))
  socket.write(body)
  await until(() => client.untaken.length === 2)
  now.ms = 300
  link.sweep()
  assert.equal(client.isKept, false)
  client.take()
  await until(() => client.untaken.length === 2)
  now.ms = 499
  link.sweep()
  assert.equal(client.isKept, false)
  now.ms = 500
  link.sweep()
  assert.equal(client.isKept, true)
  assert.equal(await result, 'completed')
  assert.ok(Buffer.concat([first(), client.bytes]).equals(body))
  assert.equal(link.pending, 0)
})

test('without room to keep more, the program waits', async (t) => {
  const { link, client, socket, now, result, first } = await stream(t)
  client.isQuick = false
  socket.write(headOf(length))
  socket.write(body)
  await until(() => client.untaken.length === 2)
  // It copies, and has no room.
  client.keep = () => {}
  client.most = 0
  now.ms = 500
  link.sweep()
  while (!client.isEnded) {
    await until(() => client.untaken.length > 0)
    client.take()
  }
  client.take()
  assert.ok(client.most <= 3)
  assert.equal(await result, 'completed')
  assert.ok(Buffer.concat([first(), client.bytes]).equals(body))
})

test('a program that ends in the middle breaks the answer off', async (t) => {
  for (const end of ['end', 'resetAndDestroy'] as const) {
    const { link, socket, result, client } = await stream(t)
    socket.write(headOf(length))
    socket.write(body.subarray(0, 1000))
    await until(() => link.answering === 1)
    socket[end]()
    assert.equal(await result, 'broken off')
    assert.equal(client.isEnded, false)
    await until(() => link.pending === 0)
    assert.equal(link.answering, 0)
  }
})

test('bytes after a long answer do not reach the client, and its connection is closed', async (t) => {
  const { socket, first, client, result } = await stream(t)
  socket.write(headOf(length))
  socket.write(Buffer.concat([body, Buffer.from('more')]))
  assert.equal(await result, 'completed')
  await until(() => client.untaken.length === 0)
  assert.ok(Buffer.concat([first(), client.bytes]).equals(body))
  await until(() => socket.destroyed)
})

test('a cancelled answer closes its connection', async (t) => {
  const { link, socket, cancel, client } = await stream(t)
  client.isQuick = false
  socket.write(headOf(length))
  socket.write(body)
  await until(() => client.untaken.length === 2)
  cancel()
  await until(() => socket.destroyed && link.pending === 0)
  assert.equal(link.answering, 0)
  client.take()
  assert.deepEqual([client.isEnded, client.isBroken], [false, false])
})

test('an answer of known length that arrives slowly begins after 200 ms', async (t) => {
  for (const bytes of [20, 100_000]) {
    const { link, socket, now, first, client, result } = await stream(t)
    socket.write(headOf(bytes))
    socket.write(body.subarray(0, 2))
    for (; link.answering === 0; now.ms++) {
      await new Promise((resolve) => setTimeout(resolve, 1))
      link.sweep()
    }
    socket.write(body.subarray(2, bytes))
    assert.equal(await result, 'completed')
    await until(() => client.untaken.length === 0)
    assert.ok(Buffer.concat([first(), client.bytes]).equals(body.subarray(0, bytes)))
  }
})

test('long answers have no time limit while bytes arrive, and take no part of the program’s time', async (t) => {
  const { link, socket, now, result } = await stream(t)
  socket.write(headOf(length))
  await until(() => link.answering === 1)
  const shared = link.sharedMs()
  now.ms += 60_000
  link.sweep()
  assert.equal(link.sharedMs(), shared)
  now.ms += 600_000
  link.sweep()
  assert.equal(await result, 'broken off')
})

test('buffers are used again', async (t) => {
  let taken = 0
  class Counted extends ReadBuffers {
    readonly all = new Set<Buffer>()
    override take(): Buffer {
      taken++
      const buffer = super.take()
      this.all.add(buffer)
      return buffer
    }
  }
  const buffers = new Counted()
  const { socket, result } = await stream(t, buffers)
  socket.write(headOf(length))
  for (let at = 0; at < length; at += readBufferBytes / 16) {
    socket.write(body.subarray(at, at + readBufferBytes / 16))
    await new Promise(setImmediate)
  }
  assert.equal(await result, 'completed')
  assert.ok(taken > 4 && buffers.all.size <= 3, `${taken} taken, ${buffers.all.size} different`)
})
