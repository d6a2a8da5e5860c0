/** Pausing, cancelling, limiting and measuring jobs in programs. */
import assert from 'node:assert/strict'
import test, { after } from 'node:test'
import { isStopped, stateOf, until } from '../slots/testing/use-pool.ts'
import { hasPython, read, usePrograms } from './testing/use-programs.ts'

const { start, ask, lines } = await usePrograms({ after })

test('a paused job makes no progress until it is resumed, while others run', async () => {
  const run = start('/spin?ms=200')
  await until(() => run.cpuMs() > 10, 'the job runs')
  run.pause()
  run.pause()
  await until(() => isStopped(run.pid!), 'its program is stopped')
  const before = run.cpuMs()
  assert.equal((await ask('/spin?ms=20')).body, 'spun')
  assert.equal(run.cpuMs(), before)
  assert.equal(run.paused, true)
  run.resume()
  run.resume()
  assert.equal((await read(run)).body, 'spun')
  const { cpuMs, measure, work } = await run.ended
  assert.ok(cpuMs >= 190, `${cpuMs} ms`)
  assert.deepEqual([measure, work], ['cpu', cpuMs * 1000])
})

test('a job that waits for its program can be paused, resumed and cancelled', async (t) => {
  const { start } = await usePrograms(t, {}, { warm: 0 })
  const [paused, cancelled] = [start('/pid'), start('/pid')]
  paused.pause()
  cancelled.cancel()
  assert.deepEqual(await cancelled.answer, { kind: 'cancelled' })
  await cancelled.ended
  paused.resume()
  assert.equal((await read(paused)).kind, 'http')
})

test('cancelling a job ends its program: running, paused or answering', async () => {
  for (const state of ['running', 'paused', 'answering']) {
    const run = start(state === 'answering' ? '/forever' : '/spin?ms=1e9')
    await until(() => run.cpuMs() > 5, 'the job runs')
    const answer = state === 'answering' ? await run.answer : undefined
    if (state === 'paused') run.pause()
    const { pid } = run
    run.cancel()
    run.cancel()
    assert.ok((await run.ended).cpuMs > 5)
    assert.equal(stateOf(pid!), undefined)
    if (answer?.kind !== 'http') assert.deepEqual(await run.answer, { kind: 'cancelled' })
    else await assert.rejects(answer.body.toArray(), { code: 'ANSWER_BROKEN', kind: 'cancelled' })
  }
  assert.equal((await ask('/health')).head!.status, 204)
  assert.ok(!lines.some((line) => line.includes('next try')), lines.join('\n'))
})

test('a program can report the work of a job in a header or a trailer', async () => {
  const usageOf = async (target: string) => {
    const run = start(target)
    await read(run)
    return run.ended
  }
  const inHeader = await usageOf('/work?units=123&ms=5')
  assert.deepEqual([inHeader.measure, inHeader.work], ['header', 123])
  assert.ok(inHeader.cpuMs >= 4, `${inHeader.cpuMs} ms`)
  const inTrailer = await usageOf('/trailers')
  assert.deepEqual([inTrailer.measure, inTrailer.work], ['header', 7.5])
  for (const nonsense of ['-1', 'much', '', 'Infinity']) {
    assert.equal((await usageOf(`/work?units=${nonsense}`)).measure, 'cpu')
  }
})

test('CPU time includes that of ended child processes', async () => {
  const run = start('/child?ms=150')
  assert.equal((await read(run)).body, 'waited')
  const { cpuMs } = await run.ended
  assert.ok(cpuMs >= 120, `${cpuMs} ms`)
})

for (const kind of ['thread', 'fork']) {
  test(`CPU time is known if each request has its own ${kind}`, { skip: !hasPython }, async (t) => {
    const command = ['python3', `${import.meta.dirname}/fixtures/threads.py`, kind]
    const { start } = await usePrograms(t, { command }, { slots: 1 })
    for (const ms of [60, 5, 120, 0]) {
      const run = start(`/spin/${ms}`)
      assert.equal((await read(run)).body, 'done')
      const { cpuMs, wallMs } = await run.ended
      // For a thread that ends between samples only steps of 10 ms are known, of which four may be rounded away. A
      // sampled thread is assumed to have run until the answer.
      assert.ok(cpuMs >= ms - 40 && cpuMs <= 2 * wallMs + 40, `${cpuMs} ms of ${ms} in ${wallMs}`)
    }
  })
}

test('a job that exceeds its memory limit is ended with its program, and the next is answered', async (t) => {
  const { ask, start } = await usePrograms(t, {}, { memoryMb: 160 })
  const run = start('/eat?mb=400&wait=1e9')
  const { kind, message } = await read(run)
  assert.equal(kind, 'limit')
  assert.match(message!, /^out of memory: it grew too large; it used \d+ MB, and a job may use 160 MB$/)
  assert.ok((await run.ended).peakMemoryMb > 160)
  assert.equal((await ask('/health')).head!.status, 204)
})

test("a program's memory at rest is not a job's memory", async (t) => {
  const { pool, ask, start } = await usePrograms(t, {}, { memoryMb: 160 })
  // The runtime alone needs more.
  assert.ok(pool.restMb > 30, `${pool.restMb} MB at rest`)
  const small = start('/pid')
  await read(small)
  assert.ok((await small.ended).peakMemoryMb < 30)
  // With the memory at rest, this is more than the limit.
  const large = start('/eat?mb=140&wait=300')
  assert.equal((await read(large)).kind, 'http')
  const { peakMemoryMb } = await large.ended
  assert.ok(peakMemoryMb > 100 && peakMemoryMb < 160, `${peakMemoryMb} MB`)
  assert.equal((await ask('/health')).head!.status, 204)
})

test('a program with concurrent jobs is never paused, survives cancelled jobs, and time is measured', async (t) => {
  const { start, ask } = await usePrograms(t, { concurrency: 3 })
  const hangs = start('/hang')
  const other = start('/pid')
  assert.equal(hangs.interruptible, false)
  hangs.pause()
  assert.equal(hangs.paused, false)
  const { body } = await read(other)
  const { measure, work, cpuMs } = await other.ended
  assert.deepEqual([measure, work], ['time', cpuMs * 1000])
  hangs.cancel()
  assert.deepEqual(await hangs.answer, { kind: 'cancelled' })
  assert.ok((await hangs.ended).cpuMs > 0)
  assert.equal((await ask('/pid')).body, body)
})

test('a program with concurrent jobs that exceeds its memory limit fails all of them, and is restarted', async (t) => {
  const { start, ask } = await usePrograms(t, { concurrency: 2 }, { memoryMb: 80 })
  const runs = [start('/hang'), start('/eat?mb=400&wait=1e9')]
  for (const run of runs) {
    const { kind, message } = await read(run)
    assert.equal(kind, 'crash')
    assert.match(message!, /slot 1 grew too large: it used \d+ MB, and 2 jobs may use 160 MB/)
  }
  assert.equal((await ask('/health')).head!.status, 204)
})
