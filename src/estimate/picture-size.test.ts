import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { encodeBmp } from '../../workloads/images/bmp-encode.ts'
import { encodeJpeg } from '../../workloads/images/jpeg-encode.ts'
import { encodePng } from '../../workloads/images/png-encode.ts'
import { photo } from '../../workloads/testing/pictures.ts'
import { pictureSize } from './picture-size.ts'

// A fixed seed: every run checks the same cases.
fc.configureGlobal({ seed: 1 })

const hex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'))
const word = (text: string) => Buffer.from(text, 'latin1').toString('hex')

const gif = hex(`${word('GIF89a')} 2c01 c800 00 00 00`)
const coreBmp = hex(`${word('BM')} ${'00'.repeat(12)} 0c000000 2c01 c800 0100 1800`)
const webp = (chunk: string, data: string) =>
  hex(`${word('RIFF')} 00000000 ${word('WEBP')} ${word(chunk)} 0a000000 ${data}`)
const lossy = webp('VP8 ', '300100 9d012a 2c41 c880')
const lossless = webp('VP8L', '2f 2bc131 00 00 00 00 00 00')
const extended = webp('VP8X', '10000000 2b0100 c70000')

const picture = photo(300, 200)
const made: Record<string, Uint8Array> = {
  'a PNG': encodePng(picture, 6, () => {}),
  'a JPEG': encodeJpeg(picture, 0.7, () => {}),
  'a BMP': encodeBmp(picture, () => {}),
  'a GIF': gif,
  'an old BMP': coreBmp,
  'a lossy WebP': lossy,
  'a lossless WebP': lossless,
  'an extended WebP': extended,
}

for (const [kind, bytes] of Object.entries(made)) {
  test(`the size of ${kind} is read`, () => {
    assert.deepEqual(pictureSize(bytes), { width: 300, height: 200 })
  })
}

test('a BMP whose top row comes first has a negative height', () => {
  const bytes = Uint8Array.from(made['a BMP']!)
  new DataView(bytes.buffer).setInt32(22, -200, true)
  assert.deepEqual(pictureSize(bytes), { width: 300, height: 200 })
})

test('the size of a JPEG is found behind long segments if the head reaches that far', () => {
  const jpeg = made['a JPEG']!
  const comment = Buffer.concat([hex('ffff fe 4e20'), Buffer.alloc(20_000 - 2)])
  const bytes = Buffer.concat([jpeg.subarray(0, 2), comment, comment, jpeg.subarray(2)])
  assert.deepEqual(pictureSize(bytes), { width: 300, height: 200 })
  assert.equal(pictureSize(bytes.subarray(0, 30_000)), undefined)
})

test('other data, and images without pixels, have no size', () => {
  assert.equal(pictureSize(new Uint8Array()), undefined)
  assert.equal(pictureSize(Buffer.from('BMore than a word, but nothing like a picture')), undefined)
  assert.equal(pictureSize(hex(`${word('GIF89a')} 0000 c800 00 00 00`)), undefined)
  assert.equal(pictureSize(hex('ffd8 ffe0 0000 ffe0 0000 ffd9 0000 0000')), undefined)
})

test('a truncated image is never read past its end', () => {
  for (const bytes of Object.values(made)) {
    const padded = Buffer.concat([Buffer.alloc(5, 255), bytes, Buffer.alloc(50, 255)])
    for (let length = 0; length < Math.min(bytes.length, 700); length++) {
      const size = pictureSize(padded.subarray(5, 5 + length))
      assert.ok(size === undefined || (size.width === 300 && size.height === 200))
    }
  }
})

test('any bytes give positive integer dimensions or undefined', () => {
  const mangled = fc
    .tuple(fc.constantFrom(...Object.values(made)), fc.array(fc.tuple(fc.nat(60), fc.nat(255))))
    .map(([bytes, changes]) => {
      const copy = Uint8Array.from(bytes.subarray(0, 2000))
      for (const [at, byte] of changes) copy[at % copy.length] = byte
      return copy
    })
  fc.assert(
    fc.property(fc.oneof(mangled, fc.uint8Array({ maxLength: 200 })), (bytes) => {
      const size = pictureSize(bytes)
      if (!size) return
      assert.ok(Number.isInteger(size.width) && size.width > 0)
      assert.ok(Number.isInteger(size.height) && size.height > 0)
    }),
    { numRuns: 2000 },
  )
})
