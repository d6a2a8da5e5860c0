/** Request bodies: passed on byte for byte, kept while a retry may need them, and deleted afterwards. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import test, { afterEach } from 'node:test'
import { dial, fixtures, inputs, keptBodies, until, untilIdle, useLive, workerPid } from './support/live.ts'

const live = useLive({ files: [fixtures, inputs] })
afterEach(() => until(() => keptBodies().length === 0, 'no body is kept'))

const bytesOf = (length: number) => {
  const bytes = Buffer.alloc(length)
  for (let i = 0; i < length; i++) bytes[i] = (i * 31 + (i >> 8)) & 255
  return bytes
}
const post = (path: string, body: Buffer, type?: string) =>
  fetch(live.url + path, { method: 'POST', body, ...(type && { headers: { 'content-type': type } }) })

for (const length of [0, 1, 100_000, 1024 * 1024, 1024 * 1024 + 1, 15 * 1024 * 1024]) {
  test(`a body of ${length} bytes is echoed unchanged`, async () => {
    const body = bytesOf(length)
    const answer = await post('/mirror', body)
    assert.equal(answer.status, 200)
    assert.ok(Buffer.from(await answer.arrayBuffer()).equals(body))
  })
}

test('a large JSON body is parsed as parameters', async () => {
  const text = 'x'.repeat(2_000_000)
  const answer = await post('/roomy', Buffer.from(JSON.stringify({ text })), 'application/json')
  assert.equal(((await answer.json()) as { params: { text: string } }).params.text, text)
})

test('a workload that does not read its body answers repeatedly', async () => {
  for (let i = 0; i < 3; i++) {
    const answer = await post('/deaf', bytesOf(15 * 1024 * 1024))
    assert.equal(await answer.text(), 'not interested')
    assert.equal(answer.headers.get('plimsoll-attempts'), '1')
  }
})

test('a client that hangs up while it sends leaves nothing behind', async () => {
  const socket = dial(live)
  socket.write('POST /mirror HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000\r\n\r\n')
  socket.write(bytesOf(4_000_000))
  await until(() => keptBodies().length > 0, 'the body is being kept')
  socket.destroy()
})

test('a client that hangs up while its body is kept leaves nothing behind', async () => {
  const socket = dial(live)
  socket.write('POST /endless HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n')
  socket.write(bytesOf(2_000_000))
  await until(() => live.state().placed === 1, 'the job runs')
  socket.destroy()
  await untilIdle(live)
})

for (const length of [800_000, 3_000_000]) {
  test(`a body of ${length} bytes is sent again in full when the worker is killed while it reads`, async () => {
    const body = bytesOf(length)
    const answer = post('/digest?stall=yes', body)
    const stalled = () => readdirSync(live.dataDir).filter((name) => name.startsWith('stalled-')).length
    const before = stalled()
    await until(() => stalled() > before, 'the first attempt has read half')
    process.kill(workerPid(), 'SIGKILL')
    const sha256 = createHash('sha256').update(body).digest('hex')
    const { attempt, ...came } = (await (await answer).json()) as { attempt: number }
    assert.deepEqual(came, { bytes: length, sha256 })
    // A last report of the worker may be read after its end, and then one attempt more goes there.
    assert.ok(attempt > 1)
    await untilIdle(live)
  })
}
