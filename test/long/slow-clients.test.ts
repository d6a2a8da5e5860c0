/** Slow readers, idle WebSockets and hung jobs delay nobody, on one core. */

import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { keptAnswers } from '../support/kept-answers.ts'
import {
  dial,
  type Live,
  problemOf,
  readUntil,
  startLive,
  stopLive,
  until,
  untilIdle,
  useLive,
} from '../support/live.ts'
import { ownOf } from '../support/own-programs.ts'

/** As many jobs as two slow readers would hold. */
const live = useLive({ slots: 2 })
const program = join(import.meta.dirname, '..', '..', 'src', 'worker', 'program', 'fixtures', 'server.mjs')
const command = [process.execPath, program, '--port', '{port}']
const fifo = { scheduler: 'least-connections', discipline: 'fifo' } as const

const ten = Array.from({ length: 10 }, (_, i) => i)

/** Asks for an answer, reads its head and nothing more. */
async function readHead(t: TestContext, cluster: Live, path: string): Promise<Socket> {
  const socket = dial(cluster)
  t.after(() => socket.destroy())
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  await new Promise<void>((resolve) => socket.once('readable', resolve))
  return socket
}

async function bytesOf(socket: Socket): Promise<number> {
  let bytes = 0
  for await (const chunk of socket) bytes += (chunk as Buffer).length
  return bytes
}

test('ten slow readers of large answers hold no slot: a fast client is served while all still read', async (t) => {
  const readers = ten.map(() => readHead(t, live, '/flood?mb=24'))
  const sockets = await Promise.all(readers)
  await untilIdle(live)
  assert.equal(await (await fetch(`${live.url}/strict?n=21`)).text(), '42')
  for (const socket of sockets) assert.equal(socket.destroyed, false)
  for (const bytes of await Promise.all(sockets.map(bytesOf))) assert.ok(bytes > 24 * 1024 * 1024)
  await until(() => keptAnswers().length === 0, 'no answer is kept')
})

test('ten slow readers of an existing server hold no program', async (t) => {
  const own = await ownOf(t, { workers: { command } }, { slots: 3, ...fifo })
  const sockets = await Promise.all(ten.map(() => readHead(t, own, '/much?pieces=320')))
  await untilIdle(own)
  assert.equal((await fetch(`${own.url}/pid`)).status, 200)
  for (const bytes of await Promise.all(sockets.map(bytesOf))) assert.ok(bytes > 20 * 1024 * 1024)
})

test('beyond the budget of answers, slow readers hold their slots, but no core', async (t) => {
  const frontLimits = { answerMemoryBytes: 0, answerDiskBytes: 0 }
  const own = await ownOf(t, { workers: { command } }, { slots: 4, ...fifo, frontLimits })
  await Promise.all([1, 2, 3].map(() => readHead(t, own, '/much?pieces=640')))
  assert.equal(own.state().jobs, 3)
  assert.equal((await fetch(`${own.url}/pid`)).status, 200)
})

for (const concurrency of [1, 4]) {
  test(`ten idle WebSockets hold no core, with a concurrency of ${concurrency}`, async (t) => {
    const own = await ownOf(t, { workers: { command, concurrency } }, { slots: 12, ...fifo })
    for (const _ of ten) {
      const socket = dial(own)
      t.after(() => socket.destroy())
      socket.write(
        'GET /chat HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: abc\r\n\r\n',
      )
      await readUntil(socket, /\r\n\r\n/)
    }
    assert.equal(own.state().jobs, 10)
    assert.equal((await fetch(`${own.url}/pid`)).status, 200)
  })
}

test('hung requests hold no core, and end at the time limit of their route', async (t) => {
  const routes = [
    { name: 'hang', path: '/hang', limitMs: 1_000 },
    { name: 'rest', path: '/**' },
  ]
  const own = await ownOf(t, { workers: { command }, routes }, { slots: 4, ...fifo })
  const hung = problemOf(fetch(`${own.url}/hang`), 504)
  await until(() => own.state().placed === 1, 'it runs')
  assert.equal((await fetch(`${own.url}/pid`)).status, 200)
  const { code, detail } = await hung
  assert.equal(code, 'limit')
  assert.match(detail, /^time limit: the job ran for 1 s/)
})

test('a job that never ends is ended at the time limit of the cluster', async (t) => {
  const cluster = await startLive({ jobLimitMs: 700 })
  t.after(() => stopLive(cluster))
  const { code, headers } = await problemOf(fetch(`${cluster.url}/endless`), 504)
  assert.deepEqual([code, headers.get('plimsoll-attempts')], ['limit', '1'])
  assert.equal(await (await fetch(`${cluster.url}/strict?n=21`)).text(), '42')
})

test('a client that sends its request too slowly is refused, one that is fast enough is served', async (t) => {
  const frontLimits = { requestMs: 300, minRate: 1_000 }
  const own = await ownOf(t, { workers: { command } }, { frontLimits })
  const send = (first: number) => {
    const socket = dial(own)
    t.after(() => socket.destroy())
    socket.write('PUT /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5000\r\n\r\n')
    socket.write(Buffer.alloc(first, 'x'))
    return socket
  }
  const slow = send(1_000)
  const timer = setInterval(() => slow.write('x'), 50)
  t.after(() => clearInterval(timer))
  assert.match(await readUntil(slow, /\r\n\r\n/), /^HTTP\/1\.1 408 /)
  assert.match(await readUntil(send(5_000), /\r\n\r\n/), /^HTTP\/1\.1 200 /)
})
