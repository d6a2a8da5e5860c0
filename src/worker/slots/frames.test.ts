import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { Writable } from 'node:stream'
import test from 'node:test'
import fc from 'fast-check'
import { Channel, Credit, encodeChunk, encodeMessage, FrameReader, type ToSlot } from './frames.ts'

// A fixed seed runs the same cases every time.
fc.configureGlobal({ seed: 1 })

test('frames are decoded, wherever the stream is split', () => {
  const frame = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.record({ type: fc.constant('credit' as const), bytes: fc.nat() }, { noNullPrototype: true }),
  )
  fc.assert(
    fc.property(fc.array(frame), fc.array(fc.integer({ min: 1, max: 50 })), (frames, cuts) => {
      const all = Buffer.concat(
        frames.map((it) => (it instanceof Uint8Array ? encodeChunk(it) : encodeMessage(it))),
      )
      const seen: unknown[] = []
      const reader = new FrameReader<ToSlot>(
        (message) => seen.push(message),
        (chunk) => seen.push(new Uint8Array(chunk)),
      )
      let at = 0
      for (const cut of cuts) {
        if (at < all.length) reader.push(all.subarray(at, at + cut))
        at += cut
      }
      if (at < all.length) reader.push(all.subarray(at))
      assert.deepEqual(seen, frames)
    }),
  )
})

test('frames of small jobs are passed on as they arrive, between other frames', async () => {
  const sent: Buffer[] = []
  const socket = new Writable({
    write(chunk, _encoding, done) {
      sent.push(chunk)
      done()
    },
  })
  const channel = new Channel<ToSlot, ToSlot>(socket as unknown as Socket, {
    ...{ message() {}, chunk() {}, small() {}, broken() {}, closed() {} },
  })
  const long = Buffer.alloc(10_000, 'abc')
  for (const frames of [Buffer.from('short'), long, Buffer.alloc(0)]) {
    channel.send({ type: 'credit', bytes: frames.length })
    assert.equal(channel.sendSmall(frames), true)
  }
  const all = Buffer.concat(sent)
  for (const size of [1, 7, 4_000, all.length]) {
    const seen: unknown[] = []
    let small = ''
    const reader = new FrameReader<ToSlot>(
      (message) => seen.push(message),
      () => {},
      (frames) => {
        small += frames
      },
    )
    for (let at = 0; at < all.length; at += size) reader.push(all.subarray(at, at + size))
    assert.deepEqual(
      seen,
      [5, 10_000, 0].map((bytes) => ({ type: 'credit', bytes })),
    )
    assert.ok(small === `short${long}`)
  }
})

test('a corrupt stream is rejected', () => {
  const reader = () =>
    new FrameReader(
      () => {},
      () => {},
    )
  assert.throws(() => reader().push(Buffer.from('GET / HTTP/1.1')), {
    code: 'PROTOCOL',
    message: /frame of \d+ bytes/,
  })
  assert.throws(() => reader().push(Buffer.from([0, 0, 0, 0, 9])), { code: 'PROTOCOL', message: /kind 9/ })
  assert.throws(() => reader().push(Buffer.from([0, 0, 0, 1, 1, 0x7b])), { message: /not JSON/ })
})

test('a sender without credit waits until more is granted', async () => {
  const credit = new Credit(10)
  assert.equal(await credit.take(12), true)
  let sent = false
  const second = credit.take(1).then((wanted) => {
    sent = true
    return wanted
  })
  credit.grant(1)
  await Promise.resolve()
  assert.equal(sent, false)
  credit.grant(5)
  assert.equal(await second, true)
  await credit.take(10)
  const third = credit.take(1)
  credit.close()
  assert.equal(await third, false)
})
