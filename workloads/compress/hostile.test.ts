/** Truncated, corrupt and malicious files give a picture of the declared size or a rejection, and nothing else. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { fakeContext } from 'plimsoll/testing'
import { Refusal, type Reply } from 'plimsoll/workload'
import compress from '../compress.ts'
import { encodeBmp } from '../images/bmp-encode.ts'
import { readHeader } from '../images/header.ts'
import { encodeJpeg } from '../images/jpeg-encode.ts'
import { encodePng } from '../images/png-encode.ts'
import { jpegFile, segment } from '../testing/jpeg-files.ts'
import { bodyOf, dice, photo } from '../testing/pictures.ts'
import { chunk, ihdr, pngFile, signature } from '../testing/png-files.ts'

const ignore = () => {}
const picture = photo(29, 17, { alpha: true })
const colours: [number, number][] = [
  [2, 2],
  [1, 1],
  [1, 1],
]
const files: Record<string, Uint8Array> = {
  png: encodePng(picture, 6, ignore),
  'interlaced png': pngFile({
    width: 9,
    height: 9,
    depth: 2,
    colourType: 0,
    interlaced: true,
    pixel: (x) => [x & 3],
  }),
  'palette png': pngFile({
    ...{ width: 20, height: 9, depth: 4, colourType: 3, pixel: (x: number) => [x % 16] },
    palette: new Uint8Array(48),
    transparency: new Uint8Array(5),
    pieceBytes: 20,
  }),
  jpeg: encodeJpeg(picture, 80, ignore),
  'jpeg with restarts': jpegFile({ width: 40, height: 30, sampling: colours, restartInterval: 2 }),
  'progressive jpeg': jpegFile({ width: 40, height: 30, sampling: colours, progressive: true }),
  bmp: encodeBmp(picture, ignore),
}

/** The rejection, or the picture's size if it was accepted. */
async function outcome(bytes: Uint8Array): Promise<Refusal | string> {
  try {
    const ctx = fakeContext({ body: bodyOf(bytes) })
    const { body } = (await compress.run({ format: 'bmp', quality: 0.5 }, ctx)) as Reply & {
      body: Uint8Array
    }
    const { width, height } = readHeader(body)!
    return `${width} × ${height}`
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

for (const [name, file] of Object.entries(files)) {
  test(`${name}: truncated anywhere, it is rejected`, async () => {
    for (let length = 0; length < file.length; length++) {
      const end = await outcome(file.subarray(0, length))
      // The last row of a BMP may lack its padding.
      if (name === 'bmp' && length === file.length - 1) assert.equal(end, '29 × 17')
      else assert.ok(end instanceof Refusal, `cut to ${length} bytes it is a picture of ${end}`)
    }
  })

  test(`${name}: with flipped bits it is a picture of the declared size or rejected`, async () => {
    const roll = dice(11)
    let refused = 0
    for (let i = 0; i < 400; i++) {
      const flipped = Uint8Array.from(file)
      const first = roll(2) === 0 ? roll(Math.min(200, file.length)) : roll(file.length)
      for (let flips = roll(3); flips >= 0; flips--) {
        const at = (first + roll(2) * roll(file.length)) % file.length
        flipped[at] = flipped[at]! ^ (1 << roll(8))
      }
      const end = await outcome(flipped)
      const header = readHeader(flipped)
      if (end instanceof Refusal) refused++
      else assert.equal(end, `${header?.width} × ${header?.height}`)
    }
    // Checksums cover every byte of a PNG; pixels of other formats may have any value.
    if (name.endsWith('png')) assert.ok(refused > 395, `${refused} of 400`)
  })

  test(`${name}: noise after its first bytes is rejected or a picture`, async () => {
    const roll = dice(5)
    for (let i = 0; i < 100; i++) {
      const kept = roll(Math.min(700, file.length))
      await outcome(file.map((byte, at) => (at < kept ? byte : roll(4) === 0 ? 0xff : roll(256))))
    }
  })
}

async function refused(bytes: Uint8Array, status: number, message: RegExp): Promise<void> {
  const end = await outcome(bytes)
  assert.ok(end instanceof Refusal, `a picture of ${end}`)
  assert.equal(end.status, status)
  assert.match(end.message, message)
}

const png = (...parts: Buffer[]) => Buffer.concat([signature, ...parts, chunk('IEND', Buffer.alloc(0))])
const idat = (bytes: number) => chunk('IDAT', deflateSync(Buffer.alloc(bytes)))

test('a malformed PNG is rejected with the cause', async () => {
  const head = ihdr(4, 4, 8, 0, 0, 0, 0)
  await refused(png(head), 422, /its rows end too early/)
  await refused(png(head, idat(19)), 422, /its rows end too early/)
  assert.equal(await outcome(png(head, idat(20))), '4 × 4')
  await refused(png(head, chunk('IDAT', Buffer.from('no zlib data'))), 422, /cannot be inflated/)
  await refused(
    png(head, chunk('IDAT', deflateSync(Buffer.alloc(20, 9)))),
    422,
    /row filter 9 does not exist/,
  )
  await refused(png(idat(20)), 422, /does not begin with its header/)
  await refused(png(head, head, idat(20)), 422, /chunk "IHDR" is not known/)
  await refused(png(ihdr(0, 4, 8, 0, 0, 0, 0), idat(20)), 422, /its size is 0 × 4/)
  await refused(png(ihdr(4, 4, 3, 0, 0, 0, 0), idat(20)), 422, /colour type 0 with 3 bits does not exist/)
  await refused(png(ihdr(4, 4, 4, 2, 0, 0, 0), idat(20)), 422, /colour type 2 with 4 bits does not exist/)
  await refused(png(ihdr(4, 4, 8, 0, 0, 0, 2), idat(20)), 415, /interlace 2/)
  await refused(png(head, chunk('XYZW', Buffer.alloc(0)), idat(20)), 422, /chunk "XYZW" is not known/)
  await refused(png(head, chunk('tRNS', Buffer.alloc(3)), idat(20)), 422, /transparency does not fit/)
  const palette = ihdr(4, 4, 8, 3, 0, 0, 0)
  await refused(png(palette, idat(20)), 422, /its palette has 0 colours/)
  await refused(png(palette, chunk('PLTE', Buffer.alloc(7)), idat(20)), 422, /palette has a wrong length/)
  const outside = chunk('IDAT', deflateSync(Buffer.from([0, 0, 1, 2, 0, ...Buffer.alloc(15)])))
  await refused(png(palette, chunk('PLTE', Buffer.alloc(6)), outside), 422, /colour 2 is not among the 2/)
})

test('a PNG with too little data for its size is rejected before memory is allocated', async () => {
  const before = process.resourceUsage().maxRSS
  await refused(png(ihdr(4000, 4000, 16, 6, 0, 0, 0), idat(20)), 422, /its rows end too early/)
  assert.ok(process.resourceUsage().maxRSS - before < 30_000)
})

test('a PNG with 100,000 chunks is read', async () => {
  const empty = chunk('IDAT', Buffer.alloc(0))
  const many = Buffer.concat(Array(100_000).fill(empty))
  assert.equal(await outcome(png(ihdr(4, 4, 8, 0, 0, 0, 0), many, idat(20), many)), '4 × 4')
})

const recipe = { width: 30, height: 20, sampling: colours }
/** Replaces the bytes after the first `marker`. */
function patched(file: Buffer, marker: number, offset: number, ...bytes: number[]): Buffer {
  const copy = Buffer.from(file)
  copy.set(bytes, copy.indexOf(Buffer.from([0xff, marker])) + offset)
  return copy
}

test('a malformed JPEG is rejected with the cause', async () => {
  const file = jpegFile(recipe)
  const frame = 0xc0
  await refused(patched(file, frame, 1, 0xc9), 415, /frames of kind 9/)
  await refused(patched(file, frame, 4, 12), 415, /12 bits per sample/)
  await refused(patched(file, frame, 5, 0, 0), 422, /its size is 30 × 0/)
  await refused(patched(file, frame, 9, 2), 422, /frame has a wrong length/)
  await refused(patched(file, frame, 11, 0x02), 422, /sampling of 0 × 2 does not exist/)
  await refused(patched(file, frame, 11, 0x52), 422, /sampling of 5 × 2 does not exist/)
  await refused(patched(file, frame, 10, 2), 422, /two components have the same ID/)
  await refused(patched(file, frame, 12, 3), 422, /no table of divisors/)
  await refused(patched(file, 0xda, 5, 9), 422, /a scan refers to component 9/)
  await refused(patched(file, 0xda, 5, 2), 422, /a scan repeats a component/)
  await refused(patched(file, 0xda, 6, 0x33), 422, /a Huffman table is missing/)
  await refused(patched(file, 0xc4, 5, 3), 422, /a Huffman table/)
  await refused(patched(file, 0xdb, 4, 0x20), 422, /a quantization table is invalid/)
  await refused(Buffer.from([0xff, 0xd8, 0xff, 0xd9]), 422, /it has no picture/)
  await refused(patched(file, frame, 5, 0x0f, 0xff, 0x0f, 0xff), 422, /the data of its scans ends too early/)
  const inks = jpegFile({ ...recipe, sampling: Array(4).fill([1, 1]) })
  await refused(inks, 415, /four components of unknown colours/)
})

test('a JPEG with too many scans is rejected before they are decoded', async () => {
  const file = jpegFile({ ...recipe, progressive: true })
  const scan = Buffer.concat([segment(0xda, [1, 1, 0, 1, 63, 0]), Buffer.from([0, 0])])
  const end = file.length - 2
  const many = (count: number) =>
    Buffer.concat([file.subarray(0, end), ...Array(count).fill(scan), file.subarray(end)])
  await refused(many(100_000), 415, /more than 64 scans/)
})

test('a malformed BMP is rejected with the cause', async () => {
  const file = Buffer.from(files.bmp!)
  const at = (offset: number, ...bytes: number[]) => {
    const copy = Buffer.from(file)
    copy.set(bytes, offset)
    return copy
  }
  await refused(at(14, 41, 9), 415, /a header of 2345 bytes/)
  await refused(at(14, 13), 415, /a header of 13 bytes/)
  await refused(at(18, 0), 422, /its size is 0 × 17/)
  await refused(at(18, 0xff, 0xff, 0xff, 0xff), 422, /its size is -1 × 17/)
  await refused(at(28, 23), 422, /it has 23 bits per pixel/)
  await refused(at(30, 1), 415, /compression 1 with 24 bits per pixel/)
  await refused(at(10, 20), 422, /its rows do not begin at byte 20/)
  await refused(at(10, 0xff, 0xff), 422, /cut off/)
  await refused(at(28, 8, 0), 422, /colour \d+ is not among the 0 of its palette/)
})
