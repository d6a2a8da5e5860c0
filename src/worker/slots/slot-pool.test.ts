import assert from 'node:assert/strict'
import { getPriority } from 'node:os'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { SlotPool } from './slot-pool.ts'
import { fixture, read, until, usePool } from './testing/use-pool.ts'

test('a job receives its parameters, its id and its attempt', async (t) => {
  const { pool } = await usePool(t)
  const run = pool.start({ job: 'j7', attempt: 3, workload: 'echo', params: { a: [1, 'ü'] } })
  const { body, ...head } = await read(run)
  assert.deepEqual(head, { kind: 'result', status: 200, contentType: 'application/json', headers: {} })
  assert.deepEqual(JSON.parse(body as string), { params: { a: [1, 'ü'] }, jobId: 'j7', attempt: 3 })
  const { cpuMs, wallMs, peakMemoryMb } = await run.ended
  assert.ok(cpuMs > 0 && wallMs > 0 && peakMemoryMb > 10)
})

test('the value that a workload returns determines the kind of answer', async (t) => {
  const { ask } = await usePool(t)
  const answers: Record<string, unknown> = {}
  for (const kind of ['text', 'bytes', 'reply', 'lines', 'nothing'])
    answers[kind] = await ask('kinds', { kind })
  const plain = { kind: 'result', status: 200, headers: {} }
  assert.deepEqual(answers, {
    text: { ...plain, contentType: 'text/plain; charset=utf-8', body: 'hällo' },
    bytes: { ...plain, contentType: 'application/octet-stream', body: '\x01\x02\x03' },
    reply: { kind: 'result', status: 201, contentType: 'text/x-made', headers: { 'x-a': 'b' }, body: 'made' },
    lines: { ...plain, streamed: true, contentType: 'text/plain; charset=utf-8', body: 'one\ntwo\n' },
    nothing: { ...plain, status: 204, contentType: '', body: '' },
  })
  assert.equal(((await ask('kinds', { kind: 'large' })).body as string).length, 3_000_000)
})

test('an answer that cannot be serialised as JSON is an error', async (t) => {
  const { ask } = await usePool(t)
  const { kind, message } = await ask('kinds', { kind: 'cyclic' })
  assert.equal(kind, 'error')
  assert.match(message as string, /^answer.*: refers to a value that contains it; JSON has no cycles$/)
})

test('a thrown error has a stack, or a status if it is meant for the client', async (t) => {
  const { ask, lines } = await usePool(t)
  const message = 'no such thing'
  const forClient = { kind: 'error', message, status: 404 }
  assert.deepEqual(await ask('fail', { status: 404, expose: true }), forClient)
  assert.deepEqual(await ask('fail', { status: 404, name: 'Refusal' }), forClient)
  assert.deepEqual(lines, [])
  for (const properties of [
    {},
    { status: 404 },
    { status: 500, expose: true },
    { status: 'x', expose: true },
  ]) {
    const { stack, ...failure } = await ask('fail', properties)
    assert.deepEqual(failure, { kind: 'error', message })
    assert.match(stack as string, /^Error: no such thing\n +at .*basic\.ts:\d+:\d+/)
  }
})

test('an error that is not for the client is logged with its stack and job', async (t) => {
  const { ask, lines } = await usePool(t)
  await ask('fail')
  await until(() => lines.some((line) => line.includes('basic.ts')), 'the stack is logged')
  assert.match(lines[0]!, /^slot \d+, job \S+: workload fail: Error: no such thing$/)
})

test('parameters that the schema rejects are a client error', async (t) => {
  const { ask } = await usePool(t)
  const refused = await ask('square', { n: 'many' })
  assert.deepEqual(refused, { kind: 'error', message: 'n: must be a number', status: 400 })
  assert.equal((await ask('square', { n: 5 })).body, '25')
})

test('an unknown workload is an error', async (t) => {
  const { ask } = await usePool(t)
  const { kind, message } = await ask('nope')
  assert.deepEqual({ kind, message }, { kind: 'error', message: 'unknown workload nope' })
})

test('a stream that fails midway ends the body with an error', async (t) => {
  const { start } = await usePool(t)
  const run = start('break-off')
  await assert.rejects(read(run), { code: 'ANSWER_BROKEN', kind: 'error', message: 'failed midway' })
  await run.ended
})

test('a slot is reused after a job, whether the job answered or threw', async (t) => {
  const { start } = await usePool(t)
  const pids = new Set<number | undefined>()
  for (let i = 0; i < 20; i++) {
    const run = start(i % 2 ? 'fail' : 'pid')
    await run.ended
    pids.add(run.pid)
  }
  assert.ok(pids.size <= 2, 'the warm slot, and the one started when it received a job')
})

test('a job runs in the idle slot that ran its workload most often, or in the one freed last', async (t) => {
  const { start } = await usePool(t)
  const together = [start('echo'), start('pid')]
  await until(() => together.every(({ pid }) => pid !== undefined), 'both have a slot')
  const [echoes, pids] = together.map(({ pid }) => pid)
  for (const { ended } of together) await ended
  for (const workload of ['echo', 'pid', 'pid', 'echo', 'echo', 'pid']) {
    const run = start(workload)
    assert.equal(run.pid, workload === 'echo' ? echoes : pids)
    await run.ended
  }
  const other = start('kinds', { kind: 'text' })
  assert.equal(other.pid, pids)
  await other.ended
})

test('slots have the priority of the worker unless a niceness is set', async (t) => {
  for (const niceness of [0, 4]) {
    const { start } = await usePool(t, { niceness })
    const run = start('spin')
    await until(() => getPriority(run.pid!) === getPriority() + niceness, 'it has its priority')
    run.cancel()
    await run.ended
  }
})

test('the output of a job is logged with its slot and job', async (t) => {
  const { start, lines } = await usePool(t)
  await start('print').ended
  await until(() => lines.length === 3, 'three lines')
  // With FORCE_COLOR, console.log colours numbers.
  const plain = lines.map((line) => stripVTControlCharacters(line))
  assert.deepEqual(plain.map((line) => line.replace(/^slot \d+/, 'slot 1')).sort(), [
    'slot 1, job job-1: to stderr',
    'slot 1, job job-1: to stdout',
    'slot 1, job job-1: to the log { n: 1 }',
  ])
})

test('jobs beyond the warm slots start new slots, and surplus slots end when they are not needed', async (t) => {
  const { pool } = await usePool(t, { surplusMs: 20 })
  const bodies = Array.from({ length: 4 }, () => new PassThrough())
  const runs = bodies.map((body, i) =>
    pool.start({ job: `j${i}`, attempt: 1, workload: 'guarded', params: {}, body }),
  )
  await until(() => runs.every(({ pid }) => pid !== undefined), 'each job has a slot')
  assert.equal(new Set(runs.map(({ pid }) => pid)).size, 4)
  for (const body of bodies) body.end('go on')
  for (const { ended } of runs) await ended
  await until(() => pool.size === 1, 'one warm slot is left')
})

test('workloads that cannot be loaded are reported with their error', async (t) => {
  const broken = usePool(t, { files: [fixture('broken.ts')] })
  await assert.rejects(broken, { code: 'CONFIG', message: /broken\.ts: this module does not load/ })
  await assert.rejects(usePool(t, { files: ['nowhere.ts'] }), {
    message: /nowhere\.ts: no such file/,
  })
  const { ask } = await usePool(t, { warm: 0, files: [fixture('broken.ts')] })
  const { kind, message } = await ask('any')
  assert.equal(kind, 'crash')
  assert.match(message as string, /cannot be loaded: .*broken\.ts: this module does not load/)
})

test('invalid options are rejected by name', () => {
  const options = { files: [], dataDir: '.', warm: 1, memoryMb: 256, log: () => {} }
  assert.throws(() => new SlotPool({ ...options, warm: -1 }), { code: 'CONFIG', message: /^warm = -1: / })
  assert.throws(() => new SlotPool({ ...options, memoryMb: 10 }), {
    message: /^memoryMb = 10: .* at least 96$/,
  })
})

test('a closed pool has no slots and accepts no jobs', async (t) => {
  const { pool, start } = await usePool(t)
  const runs = [start('spin'), start('spin')]
  runs[1]!.pause()
  await pool.close()
  assert.equal(pool.size, 0)
  for (const run of runs) assert.deepEqual(await run.answer, { kind: 'cancelled' })
  assert.throws(() => start('echo'), { code: 'CONTRACT' })
})
