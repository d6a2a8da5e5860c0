/** Long answers whose bodies bypass the HTTP client. */
import assert from 'node:assert/strict'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import type { JobAnswer, JobRun } from '../job-run.ts'
import { isStopped, until } from '../slots/testing/use-pool.ts'
import type { LongBody } from './long-body.ts'
import { jobOf, type RequestParts, usePrograms } from './testing/use-programs.ts'

interface Long {
  run: JobRun
  answer: Extract<JobAnswer, { kind: 'http' }>
  body: LongBody
}

async function long(t: TestContext, target: string, concurrency = 1, parts: RequestParts = {}) {
  const { pool } = await usePrograms(t, { concurrency })
  const start = async (): Promise<Long> => {
    const run = pool.start({ ...jobOf(target, parts), channel: true })
    const answer = await run.answer
    assert.ok(answer.kind === 'http' && answer.long, answer.kind)
    return { run, answer, body: answer.long }
  }
  return { start, pool }
}

for (const concurrency of [1, 4]) {
  test(`long answers arrive, one after another, with a concurrency of ${concurrency}`, async (t) => {
    const { start } = await long(t, '/long?bytes=3000000', concurrency)
    for (let i = 0; i < 3; i++) {
      const { run, answer, body } = await start()
      const front = new PassThrough()
      body.pour(front)
      assert.equal((await buffer(front)).length, 3_000_000)
      assert.deepEqual([await answer.body.toArray(), answer.trailers()], [[], []])
      assert.equal((await run.ended).measure, concurrency === 1 ? 'cpu' : 'time')
    }
  })
}

test('a paused job sends nothing more until it is resumed', async (t) => {
  const { start } = await long(t, '/long?bytes=50000000')
  const { run, body } = await start()
  run.pause()
  await until(() => isStopped(run.pid!), 'its program is stopped')
  const front = new PassThrough()
  body.pour(front)
  let bytes = 0
  front.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  await new Promise((resolve) => setTimeout(resolve, 100))
  // What its connection held.
  const before = bytes
  assert.ok(before < 50_000_000)
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.equal(bytes, before)
  run.resume()
  await run.ended
  await body.sent
  await until(() => bytes === 50_000_000, 'all arrives')
})

test('a program waits for a front that takes nothing, and cancelling the job ends it', async (t) => {
  const { start, pool } = await long(t, '/long?bytes=500000000')
  const { run, answer, body } = await start()
  body.pour(new PassThrough())
  await until(() => !run.moved(), 'nothing moves')
  run.cancel()
  await run.ended
  await assert.rejects(answer.body.toArray(), { code: 'ANSWER_BROKEN', kind: 'cancelled' })
  const next = await pool.start(jobOf('/pid')).answer
  assert.equal(next.kind, 'http')
})

test('an answer to the beginning of a request body may be long', async (t) => {
  const { start } = await long(t, '/long?bytes=3000000', 1, {
    method: 'PUT',
    headers: ['Host', 'x', 'Content-Length', '1000000'],
    body: Readable.from([Buffer.alloc(500_000)]).on('end', () => {}),
  })
  const { run, body } = await start()
  const front = new PassThrough()
  body.pour(front)
  assert.equal((await buffer(front)).length, 3_000_000)
  await run.ended
})

test('HEAD and answers in chunks take the usual way', async (t) => {
  const { pool } = await usePrograms(t)
  for (const [target, method] of [
    ['/long?bytes=3000000', 'HEAD'],
    ['/much?pieces=20', 'GET'],
  ] as const) {
    const run = pool.start({ ...jobOf(target, { method }), channel: true })
    const answer = await run.answer
    assert.ok(answer.kind === 'http' && !answer.long)
    assert.equal((await buffer(answer.body)).length, method === 'HEAD' ? 0 : 20 * 64 * 1024)
  }
})
