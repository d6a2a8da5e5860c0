import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ConfigError } from '../../lib/errors.ts'
import type { Action } from '../../model/action.ts'
import type { Event } from '../../model/event.ts'
import type { Reason } from '../../model/reason.ts'
import type { BrainSpec } from '../../systems/brain-spec.ts'
import { decodeEntry, decodeHeader, encodeHeader } from './log.ts'
import { LogWriter } from './log-writer.ts'

// Fixed, so that every run tests the same cases.
fc.configureGlobal({ seed: 1 })

const spec: BrainSpec = {
  scheduler: 'srpt',
  discipline: 'srpt',
  scale: { min: 1, max: 2 },
  epoch: 3,
  seed: 7,
  limits: { queue: 5 },
}

/** The lines that were written. */
function written(write: (log: LogWriter) => void): string[] {
  const chunks: Buffer[] = []
  const log = new LogWriter((chunk) => chunks.push(Buffer.from(chunk)))
  write(log)
  log.flush()
  const text = Buffer.concat(chunks).toString()
  assert.ok(text === '' || text.endsWith('\n'))
  return text.split('\n').slice(0, -1)
}

const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown

const name = fc.oneof(
  fc.constantFrom('j1', '', '"', '\\', '\n', '\u007f', '\u2028', '\ud800', '日本', '😀', 'a"b\\c\u0001'),
  fc.string(),
  fc.string({ unit: 'binary' }),
)
const number = fc.oneof(
  fc.constantFrom(0, -0, 1e9, 1e9 - 1, 2 ** 31, 2 ** 32, 2 ** 50, 2 ** 53, 1e21, 0.1 + 0.2, 1.005, 999.999),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double(),
  fc.integer({ min: 0, max: 1e9 }).map((thousandths) => thousandths / 1000),
  fc.integer({ min: 0, max: 1e15 }).map((thousandths) => thousandths / 1000),
)
// JSON.parse may read a key with half a surrogate pair as another key.
const fact = name.filter((text) => text.isWellFormed())
const reason: fc.Arbitrary<Reason> = fc
  .tuple(
    fc.constantFrom('core-free', 'deadline', 'a "code"'),
    fc.dictionary(fact, fc.oneof(name, number), { maxKeys: 4 }),
  )
  .map(([code, facts]) => ({ ...facts, code }))
const token = { epoch: number, job: name, attempt: number }
const held = fc.array(fc.record({ ...token, done: number }, { requiredKeys: ['epoch', 'job', 'attempt'] }), {
  maxLength: 2,
})
const is = <T extends string>(type: T) => ({ type: fc.constant(type) })
const job = fc.record(
  {
    ...{ id: name, workload: name, work: number, low: number, high: number, memoryMb: number, client: name },
    ...{ deadlineAt: number, safeToRepeat: fc.boolean(), preemptible: fc.boolean() },
  },
  { requiredKeys: ['id', 'workload', 'work', 'memoryMb'] },
)
const worker = fc.record({ id: name, cores: number, workPerSecond: number, memoryMb: number, slots: number })
const kind = fc.constantFrom('error', 'limit', 'crash', 'unreachable', 'refused')

const event = fc.oneof(
  fc.record({ ...is('arrived'), job }),
  fc.record({
    ...is('arrived'),
    job: fc.record({ id: name, workload: name, work: number, memoryMb: number }),
  }),
  fc.record({ ...is('cancelled'), job: name }),
  fc.record({ ...is('ready'), worker: name, ...token }),
  fc.record({ ...is('progressed'), worker: name, done: number, ...token }),
  fc.record({ ...is('finished'), worker: name, work: number, ...token }),
  fc.record(
    { ...is('failed'), worker: name, kind, message: name, ...token },
    { requiredKeys: ['type', 'worker', 'kind', 'epoch', 'job', 'attempt'] },
  ),
  fc.record(
    { ...is('joined'), worker, launch: name, seq: number, held },
    { requiredKeys: ['type', 'worker', 'seq', 'held'] },
  ),
  fc.record({ ...is('reported'), worker: name, seq: number, held }),
  fc.record({ ...is('lost'), worker: name, message: name }, { requiredKeys: ['type', 'worker'] }),
  fc.record({ ...is('launch-failed'), launch: name, message: name }, { requiredKeys: ['type', 'launch'] }),
  fc.record({ ...is('drain'), worker: name }),
  fc.record(is('tick')),
) as fc.Arbitrary<Event>

const actionTypes = [
  fc.record({ type: fc.constantFrom('run', 'pause', 'resume', 'revise'), worker: name, reason, ...token }),
  fc.record({ ...is('wait'), job: name, reason }),
  fc.record({
    ...is('answer'),
    job: name,
    outcome: fc.constantFrom('result', 'error', 'refused', 'unknown'),
    reason,
  }),
  fc.record({ ...is('go'), worker: name, ...token }),
  fc.record({ type: fc.constantFrom('cancel', 'retry'), worker: name, reason, ...token }),
  fc.record({ ...is('drop'), reason, ...token }),
  fc.record({ ...is('launch'), launch: name, reason }),
  fc.record({ ...is('abandon'), launch: name, reason }),
  fc.record({ ...is('drain'), worker: name, reason }),
  fc.record({ ...is('terminate'), worker: name, reason }),
  fc.record({ ...is('wake'), at: number }),
]
const actions = fc.array(fc.oneof(...actionTypes), { maxLength: 6 }) as fc.Arbitrary<Action[]>

test('each event and its actions are one line of JSON', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(number, event, actions), { maxLength: 5 }), (entries) => {
      const lines = written((log) => {
        for (const [at, event, actions] of entries) log.entry(at, event, actions)
      })
      assert.deepEqual(
        lines.map((line) => JSON.parse(line) as unknown),
        entries.map(([at, event, actions]) => plain({ at, event, actions })),
      )
    }),
    { numRuns: 300 },
  )
})

test('names longer than a chunk are written whole', () => {
  for (const job of ['x'.repeat(300_000), '日'.repeat(30_000), '\u0001'.repeat(20_000)]) {
    const event: Event = { type: 'finished', epoch: 1, job, attempt: 1, worker: 'w', work: 1 }
    const lines = written((log) => {
      for (const at of [1, 2]) log.entry(at, event, [])
    })
    assert.deepEqual(
      lines.map((line) => JSON.parse(line) as unknown),
      [1, 2].map((at) => ({ at, event, actions: [] })),
    )
  }
})

test('many entries are written in order and whole', () => {
  const lines = written((log) => {
    log.header(spec)
    for (let i = 0; i < 5000; i++) {
      if (i % 7 === 0) log.entry(i, { type: 'tick' }, [])
      else log.entry(i, { type: 'finished', epoch: 1, job: `j${i}`, attempt: 1, worker: 'w', work: i }, [])
    }
  })
  assert.deepEqual(decodeHeader(lines[0]!).brain, spec)
  for (let i = 0; i < 5000; i++) assert.equal(decodeEntry(lines[i + 1]!, i + 2).at, i)
})

test('the header names the format and describes the brain', () => {
  assert.deepEqual(decodeHeader(encodeHeader(spec)), { plimsoll: 'event-log', version: 4, brain: spec })
})

test('a line that is not a header is rejected', () => {
  const brain = JSON.stringify(spec)
  for (const line of ['', 'hello', 'null', '5', '[]', '{}', '{"plimsoll":"other"}']) {
    assert.throws(() => decodeHeader(line), { code: 'CONFIG', message: /^line 1: not/ }, line)
  }
  assert.throws(
    () => decodeHeader(`{"plimsoll":"event-log","version":9,"brain":${brain}}`),
    new ConfigError('line 1: event log of version 9; this is version 4'),
  )
  for (const without of ['', ',"brain":null', ',"brain":5']) {
    assert.throws(() => decodeHeader(`{"plimsoll":"event-log","version":4${without}}`), {
      code: 'CONFIG',
      message: /^line 1: .*"brain"/,
    })
  }
})

test('a line that is not an entry is rejected with its number', () => {
  const odd = ['', '{', 'null', '7', '{}', '{"at":1}', '{"at":"1","event":{"type":"tick"},"actions":[]}']
  for (const line of [
    ...odd,
    '{"at":1,"event":5,"actions":[]}',
    '{"at":1,"event":{},"actions":[]}',
    '{"at":1,"event":{"type":"tick"},"actions":{}}',
  ]) {
    assert.throws(() => decodeEntry(line, 17), { code: 'CONFIG', message: /^line 17: / }, line)
  }
})
