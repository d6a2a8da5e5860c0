/** Answers that their clients read slowly are kept in memory, then on disk, within a budget. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { AnswerBuffer, AnswerStore } from './answer-buffer.ts'

const mb = 1024 * 1024

/** A response whose client has received the head and reads nothing yet. */
async function useAnswer(t: TestContext, limits: { memory: number; disk: number }) {
  const store = new AnswerStore({ answerMemoryBytes: limits.memory, answerDiskBytes: limits.disk })
  const server = createServer()
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const call = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' }).end()
  call.on('error', () => {})
  const [, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]
  response.flushHeaders()
  const [answer] = (await once(call, 'response')) as [IncomingMessage]
  answer.on('error', () => {})
  const log: string[] = []
  const buffer = new AnswerBuffer(response, store, {
    behind: () => log.push('behind'),
    caughtUp: () => log.push('caught up'),
    broken: () => log.push('broken'),
  })
  const isUnused = () => store.memory.left === limits.memory && store.disk.left === limits.disk
  return { store, response, buffer, answer, call, log, isUnused }
}

function keptFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const name = readlinkSync(`/proc/self/fd/${fd}`)
      return name.includes('plimsoll-answer-') ? [name] : []
    } catch {
      return []
    }
  })
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await delay(5)
}

/** The hash of what the client reads until the end. */
async function hashOf(answer: IncomingMessage): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of answer) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

test('an answer of any size within the budget is taken at once, and arrives unchanged', async (t) => {
  const { buffer, answer, response, log, isUnused } = await useAnswer(t, { memory: 8 * mb, disk: 400 * mb })
  const hash = createHash('sha256')
  for (let i = 0; i < 40 * 16; i++) {
    const chunk = randomBytes(64 * 1024)
    hash.update(chunk)
    await buffer.write(chunk)
  }
  assert.equal(keptFiles().length, 1)
  assert.match(keptFiles()[0]!, / \(deleted\)$/)
  buffer.end(() => response.end())
  assert.equal(response.writableEnded, false)
  assert.equal(await hashOf(answer), hash.digest('hex'))
  await until(() => isUnused() && keptFiles().length === 0)
  assert.deepEqual([log[0], log.at(-1)], ['behind', 'caught up'])
})

test('beyond the budget the writer waits until the client has read', async (t) => {
  const disk = 2 * mb
  const { buffer, answer, response, store, isUnused } = await useAnswer(t, { memory: mb, disk })
  const hash = createHash('sha256')
  let written = 0
  const writing = (async () => {
    for (let i = 0; i < 40 * 16; i++) {
      const chunk = randomBytes(64 * 1024)
      hash.update(chunk)
      await buffer.write(chunk)
      written++
    }
    buffer.end(() => response.end())
  })()
  // One answer may use a quarter of the disk space; the client reads nothing.
  await until(() => disk - store.disk.left > disk / 4 - 64 * 1024)
  assert.ok(written < 40 * 16)
  const read = await hashOf(answer)
  await writing
  assert.equal(read, hash.digest('hex'))
  await until(isUnused)
})

test('a client that disconnects returns what it used', async (t) => {
  const { buffer, call, store, isUnused } = await useAnswer(t, { memory: 8 * mb, disk: 400 * mb })
  for (let i = 0; i < 20 * 16; i++) await buffer.write(randomBytes(64 * 1024))
  assert.ok(store.disk.left < 400 * mb)
  call.destroy()
  await until(() => isUnused() && keptFiles().length === 0)
  assert.equal(buffer.write(Buffer.from('more')), undefined)
})

test('one answer cannot use the whole budget', async (t) => {
  const { buffer, store } = await useAnswer(t, { memory: 16 * mb, disk: 16 * mb })
  let waits: Promise<void> | undefined
  for (let i = 0; i < 100 * 16; i++) {
    waits = buffer.write(Buffer.alloc(64 * 1024))
    if (waits && (await Promise.race([waits.then(() => 'kept'), delay(500, 'waits')])) === 'waits') break
  }
  assert.ok(waits)
  assert.ok(store.memory.left >= 14 * mb)
  assert.ok(store.disk.left >= 12 * mb)
})

test('chunks reach a client that keeps up one by one', async (t) => {
  const { buffer, answer, log } = await useAnswer(t, { memory: mb, disk: 0 })
  for (const event of ['one', 'two', 'three']) {
    const arrived = once(answer, 'data')
    assert.equal(buffer.write(Buffer.from(event)), undefined)
    assert.equal(String((await arrived)[0]), event)
  }
  assert.deepEqual(log, [])
})

test('memory of passed chunks is used again only when they were taken; kept ones are copied', async (t) => {
  const { buffer, answer, response, log, isUnused } = await useAnswer(t, { memory: mb, disk: 400 * mb })
  const hash = createHash('sha256')
  const chunkBytes = 256 * 1024
  const free: Buffer[] = []
  let inFlight = 0
  const pass = () => {
    const chunk = free.pop() ?? Buffer.alloc(chunkBytes)
    randomBytes(chunkBytes).copy(chunk)
    hash.update(chunk)
    inFlight++
    const { promise: taken, resolve } = Promise.withResolvers<void>()
    buffer.pass(chunk, () => {
      inFlight--
      // A late reader finds something else.
      chunk.fill(0)
      free.push(chunk)
      resolve()
    })
    return taken
  }
  // The client reads nothing: at some time a chunk is not taken.
  for (let i = 0; i < 200; i++) {
    void pass()
    await new Promise((resolve) => setTimeout(resolve, 1))
    if (inFlight > 1) break
  }
  assert.equal(inFlight, 2)
  assert.deepEqual(log, [])
  buffer.keep()
  // Each is kept in memory, or in a file.
  for (let i = 0; i < 20; i++) await pass()
  assert.equal(log[0], 'behind')
  buffer.end(() => response.end())
  assert.equal(await hashOf(answer), hash.digest('hex'))
  await until(isUnused)
  assert.equal(inFlight, 0)
})
