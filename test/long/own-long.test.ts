/** Large downloads and uploads of an existing server on the general path, and what happens when they break off. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test, { after, before } from 'node:test'
import { startFront } from '../support/front-processes.ts'
import { keptAnswers } from '../support/kept-answers.ts'
import { dial, keptBodies, type Live, readUntil, stopLive, until, untilIdle } from '../support/live.ts'
import { programs, startOwn, writeJsonConfig } from '../support/own-programs.ts'
import { isAlive, workersOf } from '../support/processes.ts'

const program = join(import.meta.dirname, '..', 'fixtures', 'long-bodies.mjs')
const pattern = Buffer.from(Array.from({ length: 100_003 }, (_, i) => (i * 7) % 253))

function bytesOf(length: number): Buffer {
  return Buffer.alloc(length, pattern)
}

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-long-'))
const config = join(folder, 'plimsoll.config.json')
let live: Live
before(async () => {
  writeJsonConfig(folder, { workers: { command: [process.execPath, program, '--port', '{port}'] } })
  // Held answers are not begun early on a slow machine.
  live = await startOwn(config, { slots: 2, frontLimits: { holdMs: 60_000 } })
})
after(async () => {
  await stopLive(live)
  rmSync(folder, { recursive: true })
})

let markers = 0

function marker(): string {
  return join(folder, `died-${++markers}`)
}

async function get(path: string): Promise<{ body: Buffer; attempts: string | null; status: number }> {
  const answer = await fetch(`${live.url}${path}`)
  const body = Buffer.from(await answer.arrayBuffer())
  return { body, attempts: answer.headers.get('plimsoll-attempts'), status: answer.status }
}

async function put(path: string, body: Buffer): Promise<{ text: string; attempts: string | null }> {
  const answer = await fetch(`${live.url}${path}`, { method: 'PUT', body: new Uint8Array(body) })
  return { text: await answer.text(), attempts: answer.headers.get('plimsoll-attempts') }
}

function summary(body: Buffer): string {
  return `${body.length} ${createHash('sha1').update(body).digest('hex')}`
}

for (const bytes of [262_144, 262_145, 300_000, 524_288, 5_000_000, 30_000_000]) {
  test(`a download of ${bytes} bytes arrives unchanged`, async () => {
    const { body, status } = await get(`/large?bytes=${bytes}`)
    assert.equal(status, 200)
    assert.ok(body.equals(bytesOf(bytes)))
  })
}

test('a chunked download arrives unchanged', async () => {
  assert.ok((await get('/chunks?bytes=5000000')).body.equals(bytesOf(5_000_000)))
})

test('other requests follow a download on the same connection', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = async (path: string) => {
    const call = request(`${live.url}${path}`, { agent }).end()
    const [answer] = (await once(call, 'response')) as [IncomingMessage]
    let bytes = 0
    for await (const chunk of answer) bytes += (chunk as Buffer).length
    return { bytes, reused: call.reusedSocket }
  }
  assert.deepEqual(await ask('/large?bytes=3000000'), { bytes: 3_000_000, reused: false })
  const { reused } = await ask('/pid')
  assert.equal(reused, true)
  assert.deepEqual(await ask('/large?bytes=3000000'), { bytes: 3_000_000, reused: true })
  agent.destroy()
})

test('HEAD of a long answer has its length and no body', async () => {
  const answer = await fetch(`${live.url}/large?bytes=3000000`, { method: 'HEAD' })
  assert.equal(answer.headers.get('content-length'), '3000000')
  assert.equal((await answer.arrayBuffer()).byteLength, 0)
})

test('a download whose program is killed before anything was sent to the client is retried', async () => {
  const { body, attempts } = await get(`/large?bytes=3000000&die=100000&once=${marker()}`)
  assert.ok(body.equals(bytesOf(3_000_000)))
  assert.equal(attempts, '2')
})

test('a download whose program is killed in the middle breaks off, and the program is replaced', async () => {
  const answer = await fetch(`${live.url}/large?bytes=9000000&die=4000000`)
  assert.equal(answer.status, 200)
  await assert.rejects(answer.arrayBuffer())
  await untilIdle(live)
  assert.equal((await get('/pid')).status, 200)
})

test('when a client leaves in the middle of a download, its program is ended and replaced', async () => {
  const socket = dial(live)
  socket.write('GET /large?bytes=2000000000 HTTP/1.1\r\nHost: x\r\n\r\n')
  const head = String(await readUntil(socket, /\r\n\r\n/))
  socket.destroy()
  const pid = Number(/x-pid: (\d+)/i.exec(head)?.[1])
  assert.ok(pid > 1)
  await until(() => !isAlive(pid), 'its program has ended')
  await untilIdle(live)
  assert.ok((await get('/large?bytes=3000000')).body.equals(bytesOf(3_000_000)))
})

test('slow readers of long answers hold no program', async (t) => {
  const sockets = Array.from({ length: 4 }, () => dial(live))
  t.after(() => sockets.map((socket) => socket.destroy()))
  for (const socket of sockets) {
    socket.write('GET /large?bytes=20000000 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    await new Promise<void>((resolve) => socket.once('readable', resolve))
  }
  await untilIdle(live)
  assert.equal((await get('/pid')).status, 200)
  for (const socket of sockets) {
    const parts: Buffer[] = []
    for await (const part of socket) parts.push(part as Buffer)
    const all = Buffer.concat(parts)
    assert.ok(all.subarray(all.indexOf('\r\n\r\n') + 4).equals(bytesOf(20_000_000)))
  }
  await until(() => keptAnswers().length === 0, 'no answer is kept')
})

test('an upload arrives unchanged', async () => {
  const body = bytesOf(20_000_000)
  assert.equal((await put('/upload', body)).text, summary(body))
  await until(() => keptBodies().length === 0, 'no body is kept')
})

test('an upload whose program is killed in the middle is sent again with its whole body', async () => {
  const body = bytesOf(9_000_000)
  const { text, attempts } = await put(`/upload?die=4000000&once=${marker()}`, body)
  assert.deepEqual([text, attempts], [summary(body), '2'])
})

test('when a client leaves in the middle of an upload, its program is ended', async () => {
  const socket = dial(live)
  socket.write('PUT /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n')
  socket.write(bytesOf(4_000_000))
  await until(() => live.state().jobs === 1, 'the job is accepted')
  socket.destroy()
  await untilIdle(live)
  const body = bytesOf(3_000_000)
  assert.equal((await put('/upload', body)).text, summary(body))
})

/** Kills the worker of the cluster. */
function killWorker(): void {
  const [worker] = workersOf(process.pid)
  process.kill(worker!.pid, 'SIGKILL')
}

test('a download whose worker is killed in the middle breaks off', async () => {
  const answer = await fetch(`${live.url}/large?bytes=2000000000`)
  const reader = answer.body!.getReader()
  await reader.read()
  killWorker()
  await assert.rejects(async () => {
    while (!(await reader.read()).done);
  })
  await untilIdle(live)
  assert.ok((await get('/large?bytes=3000000')).body.equals(bytesOf(3_000_000)))
})

test('an upload whose worker is killed in the middle is sent again with its whole body', async () => {
  const body = bytesOf(9_000_000)
  const call = request(`${live.url}/upload`, { method: 'PUT', headers: { 'content-length': body.length } })
  call.write(body.subarray(0, 5_000_000))
  await until(() => live.state().workers.some(({ jobs }) => jobs.length > 0), 'the attempt runs')
  killWorker()
  call.end(body.subarray(5_000_000))
  const [answer] = (await once(call, 'response')) as [IncomingMessage]
  assert.equal(await text(answer), summary(body))
  assert.equal(answer.headers['plimsoll-attempts'], '2')
})

test('when a front is killed in the middle of a download, its client is cut off and the program is replaced', async (t) => {
  const front = await startFront(t, live, '--config', config)
  const answer = await fetch(`${front.url}/large?bytes=2000000000`)
  const reader = answer.body!.getReader()
  await reader.read()
  front.process.kill('SIGKILL')
  await assert.rejects(async () => {
    while (!(await reader.read()).done);
  })
  await untilIdle(live)
  assert.ok((await get('/large?bytes=3000000')).body.equals(bytesOf(3_000_000)))
})

test('no program is left behind', () => {
  assert.ok(programs('long-bodies.mjs').length <= 3)
})
