/** The space for request bodies is limited, and its lack affects only requests that need more. */

import assert from 'node:assert/strict'
import { existsSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { afterEach } from 'node:test'
import {
  assertWell,
  dial,
  keptBodies,
  open,
  problemOf,
  readUntil,
  startLive,
  stopLive,
  until,
  untilIdle,
  useLive,
} from './support/live.ts'

const mb = 1024 * 1024
const live = useLive({ frontLimits: { bodiesMemoryBytes: mb, bodiesDiskBytes: 3 * mb } })
afterEach(() => until(() => keptBodies().length === 0, 'no body is kept'))

const post = (path: string, bytes: number, headers: Record<string, string> = {}) =>
  fetch(live.url + path, { method: 'POST', body: Buffer.alloc(bytes, 'x'), headers })

test('bodies beyond the budget are refused with 503 until others are answered', async () => {
  const first = post('/gated?gate=u1', 2 * mb)
  await until(() => live.state().placed === 1, 'the first runs')
  const { code, headers, detail } = await problemOf(post('/mirror', 2 * mb), 503)
  assert.equal(code, 'bodies-full')
  // Nothing has released its space yet; slow bodies are ended after 10 s.
  assert.match(headers.get('retry-after')!, /^1[0-3]$/)
  assert.match(detail, /\(1 MB of memory, 3 MB of disk\); .* --body-memory and --body-disk/)
  // Its client is told before it sends the body.
  const socket = dial(live)
  socket.write(
    `POST /mirror HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: ${2 * mb}\r\n\r\n`,
  )
  await readUntil(socket, /^HTTP\/1.1 503 /)
  socket.destroy()
  assert.equal((await (await post('/mirror', 500_000)).arrayBuffer()).byteLength, 500_000)
  await assertWell(live)
  open(live, 'u1')
  assert.equal(await (await first).text(), 'opened')
  await untilIdle(live)
  assert.equal((await post('/mirror', 2 * mb)).status, 200)
})

test('a client that stalls or disconnects in the middle of its body does not keep its space', async () => {
  const sockets = Array.from({ length: 3 }, () => dial(live))
  for (const socket of sockets) {
    socket.write(`POST /mirror HTTP/1.1\r\nHost: x\r\nContent-Length: ${2 * mb}\r\n\r\n`)
    socket.write(Buffer.alloc(1.2 * mb))
  }
  await until(() => keptBodies().length > 0, 'bodies are being kept')
  for (const socket of sockets) socket.destroy()
  await until(() => keptBodies().length === 0, 'no body is kept')
  assert.equal((await post('/mirror', 2 * mb)).status, 200)
})

test('a body that cannot be stored fails alone', async () => {
  const folder = process.env.TMPDIR
  process.env.TMPDIR = '/nowhere'
  try {
    for (let i = 0; i < 2; i++) {
      const { code, detail } = await problemOf(post('/mirror', 2 * mb), 503)
      assert.equal(code, 'body-not-stored')
      assert.match(detail, /ENOENT/)
    }
    assert.equal((await post('/mirror', 1000)).status, 200)
  } finally {
    process.env.TMPDIR = folder
  }
  assert.equal((await post('/mirror', 2 * mb)).status, 200)
  const told = live.lines.filter((line) => line.includes('request bodies'))
  assert.deepEqual(told, [
    'front: request bodies cannot be stored in /nowhere (ENOENT)',
    'front: request bodies can be stored again',
  ])
})

test('a front removes the files of killed processes, and no others', async () => {
  const file = (pid: number, of = 'body') => join(tmpdir(), `plimsoll-${of}-${pid}-leftover`)
  const [dead, mine, alive] = [file(2 ** 30), file(process.pid), file(process.ppid)]
  const answer = file(2 ** 30, 'answer')
  for (const path of [dead, answer, mine, alive]) writeFileSync(path, '')
  utimesSync(mine, 0, 0)
  const other = await startLive({}, false)
  try {
    await until(() => ![dead, answer, mine].some((path) => existsSync(path)), 'leftovers are removed')
    assert.ok(existsSync(alive))
  } finally {
    await stopLive(other)
    rmSync(alive)
  }
})
