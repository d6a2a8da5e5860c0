import assert from 'node:assert/strict'
import test from 'node:test'
import { stream } from '../lib/random.ts'
import {
  type Frame,
  FrameDecoder,
  giveBackReasons,
  kinds,
  longestAnswerFrame,
  longestJobFrame,
  longestParams,
} from './direct-frames.ts'
import { FrameWriter, fitsLink } from './direct-writer.ts'

type Seen = { id: number; job?: object; answer?: object; cancel?: true }

function seen(frame: Frame): Seen {
  const { id, kind } = frame
  if (kind === kinds.cancel) return { id, cancel: true }
  if (kind === kinds.job) {
    const { workload, job, params } = frame.job()
    return { id, job: { workload, job, params: params.toString() } }
  }
  const { body, ...answer } = frame.answer()
  return { id, answer: { ...answer, body: body.toString() } }
}

/** What a decoder makes of these chunks. */
function decoded(chunks: Iterable<Buffer>, longest = longestAnswerFrame): Seen[] {
  const frames: Seen[] = []
  const decoder = new FrameDecoder(longest, (frame) => frames.push(seen(frame)))
  for (const chunk of chunks) decoder.push(chunk)
  return frames
}

const result = { outcome: 'result', status: 201, work: 12345, wallMs: 0.25 } as const

function someFrames(): { bytes: Buffer; frames: Seen[] } {
  const writer = new FrameWriter()
  writer.job(1, { workload: 'echo', job: 'jöb-1', params: '{"a":"ä€😀"}' })
  writer.job(0xffffffff, { workload: 'w', job: '', params: Buffer.from('{}') })
  writer.cancel(7)
  writer.answer(2, { ...result, fields: '{"x-a":"é"}', tally: '{"calls":1}', body: Buffer.from('bödy') })
  writer.answer(3, { ...result, outcome: 'error', status: 400, fields: '', tally: '', body: Buffer.alloc(0) })
  writer.giveBack(4, 'streamed')
  const numbers = { work: 12345, wallMs: 0.25, cpuMs: 0, peakMemoryMb: 0, reason: 'unreachable' }
  const none = { fields: '', tally: '', body: '' }
  const frames: Seen[] = [
    { id: 1, job: { workload: 'echo', job: 'jöb-1', params: '{"a":"ä€😀"}' } },
    { id: 0xffffffff, job: { workload: 'w', job: '', params: '{}' } },
    { id: 7, cancel: true },
    {
      id: 2,
      answer: {
        ...{ outcome: 'result', status: 201, ...numbers },
        ...{ fields: '{"x-a":"é"}', tally: '{"calls":1}', body: 'bödy' },
      },
    },
    { id: 3, answer: { outcome: 'error', status: 400, ...numbers, ...none } },
    {
      id: 4,
      answer: {
        ...{ outcome: 'given-back', status: giveBackReasons.indexOf('streamed'), ...none },
        ...{ reason: 'streamed', work: 0, wallMs: 0, cpuMs: 0, peakMemoryMb: 0 },
      },
    },
  ]
  return { bytes: writer.take(), frames }
}

test('frames are read as they were written, split at every byte and byte by byte', () => {
  const { bytes, frames } = someFrames()
  assert.deepEqual(decoded([bytes]), frames)
  for (let at = 0; at <= bytes.length; at++) {
    assert.deepEqual(decoded([bytes.subarray(0, at), bytes.subarray(at)]), frames, `split at ${at}`)
  }
  assert.deepEqual(decoded([...bytes].map((byte) => Buffer.from([byte]))), frames)
})

test('frames survive any division into chunks', () => {
  const { below } = stream(7, 'chunks')
  for (let round = 0; round < 200; round++) {
    const writer = new FrameWriter()
    const sent = Array.from({ length: 1 + below(20) }, (_, id) => {
      const params = 'p'.repeat(below(5) === 0 ? below(longestParams) : below(50))
      writer.job(id, { workload: 'w'.repeat(below(30)), job: 'j'.repeat(below(30)), params })
      return params
    })
    const bytes = writer.take()
    const chunks: Buffer[] = []
    for (let at = 0; at < bytes.length; ) {
      const size = 1 + below(below(3) === 0 ? 100_000 : 40)
      chunks.push(bytes.subarray(at, at + size))
      at += size
    }
    const got = decoded(chunks).map(({ job }) => (job as { params: string }).params)
    assert.deepEqual(got, sent)
  }
})

test('what was taken from a writer is never overwritten', () => {
  const writer = new FrameWriter()
  const taken: Buffer[] = []
  for (let id = 0; id < 5_000; id++) {
    writer.job(id, { workload: 'w', job: `${id}`, params: 'x'.repeat(id % 100) })
    if (id % 3 === 0) taken.push(writer.take())
  }
  taken.push(writer.take())
  assert.deepEqual(
    decoded(taken).map(({ id, job }) => [id, (job as { job: string }).job]),
    Array.from({ length: 5_000 }, (_, id) => [id, `${id}`]),
  )
})

test('memory that was given back to a writer is used again, unless more was written or it is large', () => {
  const writer = new FrameWriter()
  const write = (length: number) => writer.job(1, { workload: 'w', job: 'j', params: 'x'.repeat(length) })
  const take = (length: number) => {
    write(length)
    return writer.take()
  }
  const memory = ({ buffer, byteOffset }: Buffer) => [buffer, byteOffset]
  const first = take(100)
  writer.reuse()
  assert.deepEqual(memory(take(50)), memory(first))
  write(10)
  writer.reuse()
  assert.notEqual(writer.take().byteOffset, 0)
  writer.reuse()
  for (let i = 0; i < 40; i++) write(60_000)
  const large = writer.take()
  writer.reuse()
  assert.notEqual(take(100).byteOffset, large.byteOffset)
})

test('a decoder that uses its memory again reads the same frames', () => {
  const { bytes, frames } = someFrames()
  for (let size = 1; size <= bytes.length; size++) {
    const read: Seen[] = []
    const decoder = new FrameDecoder(longestAnswerFrame, (frame) => read.push(seen(frame)), { reuses: true })
    for (let at = 0; at < bytes.length; at += size) decoder.push(bytes.subarray(at, at + size))
    assert.deepEqual(read, frames, `pieces of ${size}`)
  }
})

test('a frame that is passed on keeps all but its id', () => {
  const { bytes, frames } = someFrames()
  const writer = new FrameWriter()
  let next = 100
  new FrameDecoder(longestAnswerFrame, (frame) => writer.pass(frame, next++)).push(bytes)
  assert.deepEqual(
    decoded([writer.take()]),
    frames.map((frame, i) => ({ ...frame, id: 100 + i })),
  )
})

test('numbers of an answer are set in place', () => {
  const writer = new FrameWriter()
  writer.answer(1, { ...result, fields: '{}', tally: '', body: Buffer.from('b') })
  const bytes = writer.take()
  new FrameDecoder(longestAnswerFrame, (frame) => {
    frame.cpuMs = frame.wallMs * 2
    frame.work = 7
    frame.peakMemoryMb = 50
  }).push(bytes)
  const [{ answer }] = decoded([bytes]) as [Seen]
  const { cpuMs, work, peakMemoryMb, wallMs } = answer as Record<string, number>
  assert.deepEqual([cpuMs, work, peakMemoryMb, wallMs], [0.5, 7, 50, 0.25])
})

test('a frame that is too long or too short is refused before it has arrived', () => {
  const refused = (length: number, longest: number) => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32LE(length)
    assert.throws(() => decoded([bytes], longest), { code: 'PROTOCOL' }, `${length}`)
  }
  for (const length of [0, 4, longestJobFrame, 0xffffffff]) refused(length, longestJobFrame)
  refused(longestAnswerFrame, longestAnswerFrame)
})

test('any bytes are either frames or an error of the protocol', () => {
  const { below } = stream(11, 'bytes')
  const { bytes } = someFrames()
  let errors = 0
  for (let round = 0; round < 5_000; round++) {
    const changed = Buffer.from(bytes)
    for (let i = 0; i <= round % 4; i++) {
      changed[below(changed.length)] = below(256)
    }
    try {
      decoded([changed])
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'PROTOCOL')
      errors++
    }
  }
  assert.ok(errors > 0)
})

test('only jobs of limited size fit a link', () => {
  const job = { workload: 'w', job: 'j', params: '{}' }
  assert.ok(fitsLink(job))
  assert.ok(fitsLink({ ...job, params: Buffer.alloc(longestParams) }))
  assert.ok(!fitsLink({ ...job, params: 'ä'.repeat(longestParams / 2 + 1) }))
  assert.ok(!fitsLink({ ...job, job: 'j'.repeat(10_000) }))
})
