import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { questioner } from '../../estimate/question.ts'
import { loadWorkloads } from '../../workload/load.ts'
import type { RequestProblem } from '../problem.ts'
import type { ReadParams } from './params.ts'
import type { ThreadAnswer } from './params-call.ts'
import { paramsReader, type StartParamsThread } from './params-reader.ts'

const files = [join(import.meta.dirname, '../../../test/fixtures/inputs.ts')]
const workloads = new Map((await loadWorkloads(files)).map((workload) => [workload.name, workload]))
const filler = 'x'.repeat(100_000)

function readerOf(limitMs?: number, startThread?: StartParamsThread) {
  const lines: string[] = []
  const log = (line: string) => lines.push(line)
  const ask = questioner({ code: { placed: 'c' }, log })
  const parts = { files, code: { placed: 'c' }, ask, log, startThread }
  const read = paramsReader(limitMs === undefined ? parts : { ...parts, limitMs })
  return {
    lines,
    read(name: string, params: object, clientName = 'a'): Promise<ReadParams> {
      const json = new TextEncoder().encode(JSON.stringify(params))
      return read(workloads.get(name)!, {
        clientName,
        bytes: json.length,
        given: async () => ({ query: '', json }),
      })
    },
  }
}

const isHere = ({ question }: ReadParams) => question.features.isMainThread

test('short parameters are checked at once, long ones in a thread', async () => {
  const { read } = readerOf()
  const short = await read('placed', { n: 1 })
  assert.equal(isHere(short), true)
  assert.deepEqual([short.raw, short.isKept, short.question.params], [{ n: 1 }, true, { n: 1 }])
  const long = await read('placed', { n: 1, once: true, filler })
  assert.equal(isHere(long), false)
  assert.deepEqual([long.isKept, long.question.params, long.safeToRepeat], [false, {}, false])
  assert.deepEqual(Object.keys(long.raw), ['sha256', 'characters'])
  assert.match(long.question.key, /^#/)
  assert.deepEqual([long.question.codeHash, long.lane], ['c', 'l'])
  assert.ok(long.answer && long.answer.length < 100)
  assert.equal(isHere(await read('placed', { late: true, filler })), false)
  const between = { filler: 'x'.repeat(2_000) }
  const kept = await read('placed', between)
  assert.deepEqual([isHere(kept), kept.raw, kept.question.params], [false, between, between])
})

test('wrong parameters are reported alike from both, and so are errors of the workload', async () => {
  const { read } = readerOf()
  const problems = [
    [{ wrong: 12 }, 400, 'bad-parameters', /k9: wrong · and 2 more$/],
    [{ broken: true }, undefined, undefined, /./],
  ] as const
  for (const [params, status, code, message] of problems) {
    for (const extra of [{}, { filler }]) {
      await assert.rejects(read('placed', { ...params, ...extra }), (error: RequestProblem) => {
        assert.deepEqual([error.status, error.code], [status, code])
        assert.match(status ? error.message : error.stack!, status ? message : /no lane[\s\S]*inputs\.ts/)
        return true
      })
    }
  }
})

test('a workload whose parameters take long to check, even short ones, uses the thread', async () => {
  const { read, lines } = readerOf()
  assert.equal(isHere(await read('costly', { n: 3 })), true)
  let moved = await read('costly', { n: 3 })
  for (let i = 0; i < 100 && isHere(moved); i++) moved = await read('costly', { n: 3 })
  assert.equal(isHere(moved), false)
  // What the schema returns cannot be cloned, so the parameters as sent take its place.
  assert.deepEqual([moved.raw, moved.question.params], [{ n: 3 }, { n: 3 }])
  assert.deepEqual(lines, [
    'workload costly: its parameters take more than 1 ms to check, so a thread checks them from now on',
  ])
})

test('a check that exceeds its time limit is ended, and the next one has a new thread', {
  timeout: 60_000,
}, async (t) => {
  const { read, lines } = readerOf(2_000)
  const never = read('blocked', { gate: '/nowhere', filler })
  const next = read('placed', { filler })
  await assert.rejects(never, { status: 503, code: 'params-too-slow' })
  assert.equal(isHere(await next), false)
  assert.deepEqual(lines, ['workload blocked: checking parameters took longer than 2000 ms'])
  const gate = join(folder(t), 'gate')
  writeFileSync(gate, '')
  assert.equal(isHere(await read('blocked', { gate, filler })), false)
})

test('a client with many long parameters neither delays those of others nor takes all places', async (t) => {
  const { read } = readerOf()
  const gate = join(folder(t), 'gate')
  const order: string[] = []
  const ended = (name: string) => () => order.push(name)
  const first = read('blocked', { gate, filler }, 'many')
  const more = { filler: 'x'.repeat(2_000) }
  // As many as there are places.
  const others = Array.from({ length: 4096 }, () => read('placed', more, 'many').then(ended('many')))
  const refusal = others.at(-1)!.catch((error: RequestProblem) => error.code)
  const modest = read('placed', more, 'modest').then(ended('modest'))
  assert.equal(await refusal, 'params-queue-full')
  writeFileSync(gate, '')
  await first
  await modest
  assert.deepEqual(order, ['modest'])
  await Promise.all(others.slice(0, -1))
  assert.equal(order.length, 4096)
})

test('a pause of the process does not count as the time of a check', async () => {
  const { read } = readerOf(50, () => {
    const thread = new EventEmitter()
    const answer = (message: ThreadAnswer) => setImmediate(() => thread.emit('message', message))
    answer({ ready: true })
    return Object.assign(thread, {
      postMessage() {
        // The process is stopped for longer than the limit, and has not read the answer when it continues.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
        answer({ read: 'checked' as unknown as ReadParams, ms: 1 })
      },
      terminate: async () => 0,
      ref() {},
      unref() {},
    })
  })
  assert.equal(await read('placed', { filler }), 'checked')
})

test('a thread that the system refuses to start is a 503, and the next request starts one', async () => {
  let starts = 0
  const { read, lines } = readerOf(undefined, () => {
    const thread = new EventEmitter()
    const isRefused = ++starts < 3
    const error = Object.assign(new Error('EMFILE'), { code: 'ERR_WORKER_INIT_FAILED' })
    setImmediate(() => (isRefused ? thread.emit('error', error) : thread.emit('message', { ready: true })))
    return Object.assign(thread, {
      postMessage: () =>
        setImmediate(() => thread.emit('message', { read: 'checked' as unknown as ReadParams, ms: 1 })),
      terminate: async () => 0,
      ref() {},
      unref() {},
    })
  })
  for (let i = 0; i < 2; i++)
    await assert.rejects(read('placed', { filler }), { status: 503, code: 'params-unchecked' })
  assert.equal(await read('placed', { filler }), 'checked')
  assert.deepEqual(lines, [
    'the thread that checks long parameters cannot be started: EMFILE',
    'the thread that checks long parameters is started again',
  ])
})

test('a schema that ends the thread fails its own request only', async () => {
  const { read } = readerOf()
  const ends = read('placed', { exit: true, filler })
  const next = read('placed', { filler })
  await assert.rejects(ends, /a workload ended the thread of parameters with code 3/)
  assert.equal(isHere(await next), false)
})

test('a module that cannot be loaded in a thread fails the request, not the process', async (t) => {
  const file = join(folder(t), 'shy.mjs')
  writeFileSync(
    file,
    `import { isMainThread } from 'node:worker_threads'
     if (!isMainThread) throw new Error('not in a thread')
     export default { name: 'shy', description: '', run() {} }`,
  )
  const [shy] = await loadWorkloads([file])
  const read = paramsReader({ files: [file], code: {}, ask: questioner({ code: {}, log() {} }), log() {} })
  for (let i = 0; i < 2; i++)
    await assert.rejects(
      read(shy!, { clientName: 'a', bytes: 100_000, given: async () => ({ query: '' }) }),
      /shy\.mjs: not in a thread/,
    )
})

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'plimsoll-params-'))
  t.after(() => rmSync(path, { recursive: true }))
  return path
}
