/** Which uploads become maps, and how others are rejected. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { constants, deflateRawSync, deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { convertIndexedToRgb, decode } from 'fast-png'
import { Refusal } from 'plimsoll/workload'
import { fakeBody } from '../testing/body.ts'
import { chunk, ihdr, signature } from '../testing/png-files.ts'
import { maxBytes, readBody, uploadedMap } from './upload.ts'

// A fixed seed: every run checks the same cases.
fc.configureGlobal({ seed: 1 })

interface Parts {
  width: number
  height: number
  depth?: number
  colourType?: number
  interlace?: number
  /** Filter bytes and samples, uncompressed. */
  raw?: Uint8Array
  idat?: Uint8Array[]
  before?: Buffer[]
}

function png({ width, height, depth = 8, colourType = 0, interlace = 0, ...rest }: Parts): Buffer {
  const { raw = new Uint8Array(), idat = [deflateSync(raw)], before = [] } = rest
  return Buffer.concat([
    signature,
    ihdr(width, height, depth, colourType, 0, 0, interlace),
    ...before,
    ...idat.map((data) => chunk('IDAT', data)),
    chunk('IEND', new Uint8Array()),
  ])
}

function heightsOf(bytes: Uint8Array): number[] {
  const { width, height, fillRow } = uploadedMap(bytes)
  const row = new Uint16Array(width)
  return Array.from({ length: height }, (_, y) => {
    fillRow(0, y, 1, row)
    return [...row]
  }).flat()
}

function refusal(bytes: Uint8Array): string {
  try {
    uploadedMap(bytes)
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error))
    return `${error.status} ${error.message}`
  }
  return 'accepted'
}

function numbersFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return state >>> 16
  }
}

const formats = [
  ...[1, 2, 4, 8, 16].map((depth) => ({ colourType: 0, channels: 1, depth })),
  ...[8, 16].map((depth) => ({ colourType: 2, channels: 3, depth })),
  ...[1, 2, 4, 8].map((depth) => ({ colourType: 3, channels: 1, depth })),
  ...[8, 16].map((depth) => ({ colourType: 4, channels: 2, depth })),
  ...[8, 16].map((depth) => ({ colourType: 6, channels: 4, depth })),
]

test('all sample formats and filters are decoded as by fast-png', () => {
  const sizes = fc.record({ width: fc.integer({ min: 1, max: 9 }), height: fc.integer({ min: 1, max: 6 }) })
  fc.assert(
    fc.property(fc.constantFrom(...formats), sizes, fc.nat(), (format, { width, height }, seed) => {
      const { colourType, channels, depth } = format
      const line = 1 + Math.ceil((width * channels * depth) / 8)
      const random = numbersFrom(seed)
      const raw = Uint8Array.from({ length: line * height }, (_, i) =>
        i % line === 0 ? random() % 5 : random() & 255,
      )
      const colours = Uint8Array.from({ length: 3 * 2 ** Math.min(8, depth) }, () => random() & 255)
      const before = colourType === 3 ? [chunk('PLTE', colours)] : []
      const bytes = png({ width, height, depth, colourType, raw, before })

      const picture = decode(bytes)
      const full = 2 ** depth - 1
      let samples = [...(depth < 8 ? unpacked(picture.data, width, height, depth) : picture.data)]
      let perPixel = channels
      let most = full
      if (colourType === 3) {
        samples = [...convertIndexedToRgb({ ...picture, data: Uint8Array.from(samples), depth: 8 })]
        perPixel = 3
        most = 255
      }
      const expected = Array.from({ length: width * height }, (_, pixel) => {
        const wide = (channel: number) => (samples[pixel * perPixel + channel]! * 65_535) / most
        return perPixel < 3 ? wide(0) : Math.floor((wide(0) * 77 + wide(1) * 150 + wide(2) * 29) / 256)
      })
      assert.deepEqual(heightsOf(bytes), expected)
    }),
    { numRuns: 300 },
  )
})

/** Splits bytes with several samples; each row starts with a new byte. */
function unpacked(data: ArrayLike<number>, width: number, height: number, depth: number): number[] {
  const line = Math.ceil((width * depth) / 8)
  return Array.from({ length: width * height }, (_, pixel) => {
    const bit = (pixel % width) * depth
    const byte = data[Math.floor(pixel / width) * line + Math.floor(bit / 8)]!
    return (byte >> (8 - depth - (bit % 8))) % 2 ** depth
  })
}

test('many data chunks, ancillary chunks and bytes after the end are accepted', () => {
  const raw = Uint8Array.from({ length: 3 * 4 }, (_, i) => (i % 4 === 0 ? 0 : i))
  const deflated = deflateSync(raw)
  const idat = [...deflated].flatMap((byte) => [new Uint8Array([byte]), new Uint8Array()])
  const before = [chunk('tEXt', Buffer.from('Title\0hills')), chunk('iCCP', Buffer.from('nonsense'))]
  const bytes = Buffer.concat([png({ width: 3, height: 3, idat, before }), Buffer.from('more')])
  assert.deepEqual(heightsOf(bytes), heightsOf(png({ width: 3, height: 3, raw })))
})

test('other formats and interlaced files are rejected with 415', () => {
  for (const bytes of ['hello', '\xff\xd8\xff\xe0', 'BM', '\x89PNG\r\n']) {
    assert.match(refusal(Buffer.from(bytes, 'latin1')), /^415 .* must be a PNG picture/)
  }
  assert.match(refusal(png({ width: 2, height: 2, interlace: 1, raw: new Uint8Array(6) })), /^415 .*interlac/)
})

test('a map that is too large is rejected with 413 by its header alone', () => {
  const message = /^413 The uploaded map is 2049 × 1 pixels; at most 2048 × 2048 are allowed\.$/
  assert.match(refusal(png({ width: 2049, height: 1, idat: [] })), message)
  assert.match(refusal(png({ width: 1, height: 4_000_000_000, idat: [] })), /^413 /)
})

test('an upload that is too long is rejected with 413 before all of it has arrived', async () => {
  let sent = 0
  async function* endless() {
    for (;;) {
      sent++
      yield new Uint8Array(2 ** 20)
    }
  }
  const body = Object.assign(endless(), { bytes: async () => new Uint8Array() })
  await assert.rejects(readBody(body), { name: 'Refusal', status: 413 })
  assert.equal(sent, maxBytes / 2 ** 20 + 1)
  assert.deepEqual(await readBody(fakeBody(new Uint8Array([1, 2, 3]), 2)), Buffer.from([1, 2, 3]))
})

test('a corrupt PNG is rejected with 422 and the cause', () => {
  const raw = new Uint8Array(3 * 4)
  const good = png({ width: 3, height: 3, raw })
  assert.equal(refusal(good), 'accepted')
  for (let bytes = 8; bytes < good.length; bytes++) {
    assert.match(refusal(good.subarray(0, bytes)), /^422 .*cut off/, `${bytes} bytes`)
  }
  for (let at = 8; at < good.length; at++) {
    const corrupt = Buffer.from(good)
    corrupt[at]! ^= 1
    // Changed dimensions may be too large.
    assert.match(refusal(corrupt), /^4(13|15|22) /, `byte ${at}`)
  }
  const wrong: [string, Buffer][] = [
    ['its size is 0 × 3', png({ width: 0, height: 3, raw })],
    ['colour type 0 with 3 bits', png({ width: 3, height: 3, depth: 3, raw })],
    ['colour type 6 with 4 bits', png({ width: 3, height: 3, depth: 4, colourType: 6, raw })],
    ['colour type 1 with 8 bits', png({ width: 3, height: 3, colourType: 1, raw })],
    ['palette has 0 colours', png({ width: 3, height: 3, colourType: 3, raw })],
    ['rows end too early', png({ width: 3, height: 3, raw: raw.subarray(1) })],
    ['rows end too early', png({ width: 3, height: 3, idat: [] })],
    ['row filter 5 does not exist', png({ width: 1, height: 3, raw: Uint8Array.of(0, 1, 4, 1, 5, 1) })],
    ['cannot be inflated', png({ width: 3, height: 3, idat: [Buffer.from('no deflate data')] })],
  ]
  for (const [why, bytes] of wrong) assert.match(refusal(bytes), new RegExp(`^422 .*${why}`))
})

test('a decompression bomb of 16 GB is not inflated beyond the size in its header', () => {
  const finishFlush = constants.Z_SYNC_FLUSH
  const block = deflateRawSync(new Uint8Array(2 ** 20), { finishFlush })
  const blocks = Math.floor(15.9e6 / block.length)
  assert.ok(blocks * 2 ** 20 > 1.5e10)
  const bomb = Buffer.concat([Uint8Array.of(0x78, 0x9c), ...Array(blocks).fill(block)])
  const started = process.memoryUsage().arrayBuffers
  assert.equal(refusal(png({ width: 2048, height: 2048, idat: [bomb] })), 'accepted')
  assert.ok(process.memoryUsage().arrayBuffers - started < 200e6)
})

test('colours missing from the palette are dark', () => {
  const before = [chunk('PLTE', Uint8Array.of(255, 255, 255))]
  const bytes = png({ width: 2, height: 1, colourType: 3, raw: Uint8Array.of(0, 0, 7), before })
  assert.deepEqual(heightsOf(bytes), [65_535, 0])
})
