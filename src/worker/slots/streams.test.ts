import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import test from 'node:test'
import { fixture, read, stateOf, type TestPool, until, usePool } from './testing/use-pool.ts'

const files = [fixture('streams.ts'), fixture('basic.ts')]
const mb = 1024 * 1024

/** A body of `total` MB; `sent` is the number of bytes read from it. */
function source(total: number): { body: Readable; sent(): number } {
  let sent = 0
  const chunk = Buffer.alloc(50_000, 'y')
  const body = new Readable({
    read() {
      const left = total * mb - sent
      sent += Math.min(left, chunk.length)
      this.push(left > 0 ? chunk.subarray(0, left) : null)
    },
  })
  return { body, sent: () => sent }
}

const startWith = ({ pool }: TestPool, workload: string, body: Readable) =>
  pool.start({ job: 'j', attempt: 1, workload, params: {}, body })

test('a body of 128 MB is read in chunks, in little memory', async (t) => {
  const pool = await usePool(t, { files })
  const run = startWith(pool, 'digest', source(128).body)
  const { body } = await read(run)
  const sha256 = createHash('sha256')
    .update(Buffer.alloc(128 * mb, 'y'))
    .digest('hex')
  assert.deepEqual(JSON.parse(body as string), { size: 128 * mb, sha256 })
  assert.ok((await run.ended).peakMemoryMb < 160)
})

test('an unread body is not read from its source', async (t) => {
  const pool = await usePool(t, { files })
  const { body, sent } = source(64)
  const run = startWith(pool, 'idle', body)
  await until(() => sent() > 0, 'the first bytes are sent')
  await pool.ask('spin', { n: 20 })
  assert.ok(sent() < mb)
  run.cancel()
  await run.ended
  assert.equal(body.destroyed, false)
})

test('an unread body does not block messages', async (t) => {
  const pool = await usePool(t, { files })
  const { body, sent } = source(64)
  assert.equal((await read(startWith(pool, 'deaf', body))).body, 'not interested')
  assert.ok(sent() < mb)
})

test('a body that fails is an error of the job, even if it failed before the job started', async (t) => {
  const pool = await usePool(t, { files })
  const broken = new Readable({ read() {} })
  broken.destroy(new Error('client left'))
  const { kind, message } = await read(startWith(pool, 'length', broken))
  assert.equal(kind, 'error')
  assert.match(message as string, /body failed: client left/)
})

test('a chunk of 8 MB arrives complete', async (t) => {
  const pool = await usePool(t, { files })
  assert.equal(
    (await read(startWith(pool, 'length', Readable.from([Buffer.alloc(8 * mb)])))).body,
    `${8 * mb}`,
  )
})

test('an answer of 64 MB waits for its reader, in little memory', async (t) => {
  const { start, ask } = await usePool(t, { files })
  const run = start('flood', { mb: 64 })
  const answer = await run.answer
  assert.ok(answer.kind === 'result')
  await ask('spin', { n: 20 })
  assert.ok((run.progress ?? 0) * 64 < 1, 'less than 1 MB is in flight')
  let size = 0
  for await (const chunk of answer.body) size += chunk.length
  assert.equal(size, 64 * mb)
  assert.ok((await run.ended).peakMemoryMb < 128)
})

test('a body can be streamed back while it arrives', async (t) => {
  const pool = await usePool(t, { files })
  const answer = await startWith(pool, 'mirror', source(16).body).answer
  assert.ok(answer.kind === 'result')
  let size = 0
  await pipeline(answer.body, async (chunks) => {
    for await (const chunk of chunks) size += chunk.length
  })
  assert.equal(size, 16 * mb)
})

test('a job whose answer is discarded runs to its end', async (t) => {
  const { start } = await usePool(t, { files })
  const run = start('flood', { mb: 8 })
  const answer = await run.answer
  assert.ok(answer.kind === 'result')
  answer.body.destroy()
  await run.ended
  assert.notEqual(stateOf(run.pid!), undefined)
})

test('cancelling a job ends its answer with an error', async (t) => {
  const { start } = await usePool(t, { files })
  const run = start('flood', { mb: 64 })
  const answer = await run.answer
  assert.ok(answer.kind === 'result')
  run.cancel()
  await assert.rejects(answer.body.toArray(), { code: 'ANSWER_BROKEN', kind: 'cancelled' })
})
