import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { Credit, encodeChunk, encodeMessage, FrameReader, type ToSlot } from './frames.ts'

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
