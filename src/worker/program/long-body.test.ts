import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import test from 'node:test'
import { LongBody } from './long-body.ts'

const bytes = 2_000_000
const content = Buffer.from(Array.from({ length: bytes }, (_, i) => (i * 7) % 253))

/** A front's connection that takes chunks when the test says so. */
class Front extends Writable {
  readonly #got: Buffer[] = []
  readonly waiting: (() => void)[] = []

  constructor() {
    super({ highWaterMark: 1 })
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.waiting.push(() => {
      this.#got.push(Buffer.from(chunk))
      done()
    })
  }

  take(): void {
    this.waiting.shift()?.()
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#got)
  }
}

function world() {
  const counts = { resumed: 0, completed: 0 }
  const body = new LongBody({
    bytes,
    resume: () => counts.resumed++,
    complete: () => counts.completed++,
  })
  let at = 0
  /** As a socket reads. */
  const arrive = (most = Infinity): boolean => {
    const { place } = body
    const count = content.copy(place, 0, at, at + Math.min(most, place.length))
    at += count
    return body.read(place.subarray(0, count))
  }
  return { body, counts, arrive, at: () => at }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('the body arrives unchanged, with at most two chunks in flight', async () => {
  const { body, counts, arrive, at } = world()
  const front = new Front()
  body.pour(front)
  while (at() < bytes) {
    let inFlight = 0
    while (arrive(100_000)) assert.ok(++inFlight < 3)
    while (front.waiting.length > 0) {
      front.take()
      await turn()
    }
  }
  await body.sent
  assert.equal(counts.completed, 1)
  assert.ok(front.bytes.equals(content))
  assert.equal(front.writableEnded, true)
})

test('the program waits until the front connects, and what has arrived is sent first', async () => {
  const { body, counts, arrive } = world()
  assert.equal(arrive(10), false)
  const front = new Front()
  body.pour(front)
  assert.equal(counts.resumed, 1)
  front.take()
  assert.ok(front.bytes.equals(content.subarray(0, 10)))
})

test('a body that is complete before the front connects is sent', async () => {
  const { body, counts, arrive, at } = world()
  while (at() < bytes) arrive()
  assert.equal(counts.completed, 1)
  const front = new Front()
  body.pour(front)
  while (!front.writableEnded) {
    front.take()
    await turn()
  }
  assert.ok(front.bytes.equals(content))
})

test('when the front disconnects, the rest is dropped and the answer completes', async () => {
  const { body, counts, arrive, at } = world()
  const front = new Front()
  body.pour(front)
  arrive()
  front.destroy()
  await turn()
  await body.sent
  while (at() < bytes) assert.equal(arrive(), true)
  assert.equal(counts.completed, 1)
})

test('a closed body breaks off the connection of the front', () => {
  const { body, arrive } = world()
  const front = new Front()
  body.pour(front)
  arrive()
  body.close()
  assert.equal(front.destroyed, true)
  const late = new Front()
  body.pour(late)
  assert.equal(late.destroyed, true)
})

test('bytes beyond the announced length are dropped', () => {
  let completed = 0
  const body = new LongBody({ bytes: 3, resume() {}, complete: () => completed++ })
  body.read(Buffer.from('abcdef'))
  body.read(Buffer.from('ghi'))
  const front = new Front()
  body.pour(front)
  front.take()
  assert.deepEqual([completed, front.bytes.toString()], [1, 'abc'])
})
