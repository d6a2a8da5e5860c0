/** Format and size from the first bytes. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jpegFile, segment } from '../testing/jpeg-files.ts'
import { dice } from '../testing/pictures.ts'
import { ihdr, signature } from '../testing/png-files.ts'
import { formatOf, readHeader } from './header.ts'

/** The beginning of a BMP file, with a header of 12 or 40 bytes. */
function bmp(headerBytes: number, width: number, height: number): Buffer {
  const head = Buffer.alloc(54)
  head.write('BM')
  head.writeUInt32LE(headerBytes, 14)
  if (headerBytes === 12) {
    head.writeUInt16LE(width, 18)
    head.writeUInt16LE(height, 20)
  } else {
    head.writeInt32LE(width, 18)
    head.writeInt32LE(height, 22)
  }
  return head
}

const jpeg = (extra: Buffer[] = [], progressive = false) =>
  jpegFile({ width: 300, height: 7, sampling: [[1, 1]], progressive, extra })

test('the sizes of PNG, JPEG and BMP are read', () => {
  const png = Buffer.concat([signature, ihdr(70_000, 3, 8, 6, 0, 0, 0)])
  assert.deepEqual(readHeader(png), { format: 'png', width: 70_000, height: 3, progressive: false })
  assert.deepEqual(readHeader(jpeg()), { format: 'jpeg', width: 300, height: 7, progressive: false })
  assert.deepEqual(readHeader(jpeg([], true)), { format: 'jpeg', width: 300, height: 7, progressive: true })
  assert.deepEqual(readHeader(bmp(40, 500, 400)), {
    format: 'bmp',
    width: 500,
    height: 400,
    progressive: false,
  })
  assert.deepEqual(readHeader(bmp(12, 500, 400)), {
    format: 'bmp',
    width: 500,
    height: 400,
    progressive: false,
  })
})

test('a top-down BMP has a positive height', () => {
  assert.deepEqual(readHeader(bmp(40, 500, -400)), {
    format: 'bmp',
    width: 500,
    height: 400,
    progressive: false,
  })
})

test('the size of a JPEG is found behind other segments and fill bytes', () => {
  const extra = [
    segment(0xe1, Buffer.alloc(20_000)),
    Buffer.from([0xff, 0xff]),
    segment(0xfe, [0xff, 0xc0, 0xff]),
  ]
  assert.deepEqual(readHeader(jpeg(extra)), { format: 'jpeg', width: 300, height: 7, progressive: false })
})

test('a view into a larger buffer is read from its own start', () => {
  const within = Buffer.concat([Buffer.from('before'), jpeg()]).subarray(6)
  assert.deepEqual(readHeader(within), { format: 'jpeg', width: 300, height: 7, progressive: false })
})

test('the format is detected by the first bytes', () => {
  assert.equal(formatOf(signature), 'png')
  assert.equal(formatOf(Buffer.from([0xff, 0xd8, 0xff])), 'jpeg')
  assert.equal(formatOf(Buffer.from('BM')), 'bmp')
  for (const other of ['', 'B', 'GIF89a', 'RIFF....WEBP', '{"png":1}', '\x89PNG\n']) {
    assert.equal(formatOf(Buffer.from(other, 'latin1')), undefined)
    assert.equal(readHeader(Buffer.from(other, 'latin1')), undefined)
  }
})

test('a truncated head has no size and never throws', () => {
  const png = Buffer.concat([signature, ihdr(70_000, 3, 8, 6, 0, 0, 0)])
  for (let length = 0; length < 24; length++) assert.equal(readHeader(png.subarray(0, length)), undefined)
  for (let length = 0; length < 26; length++)
    assert.equal(readHeader(bmp(40, 5, 4).subarray(0, length)), undefined)
  const file = jpeg([segment(0xe0, Buffer.alloc(30))])
  const frameEnd = file.indexOf(Buffer.from([0xff, 0xc0])) + 9
  for (let length = 0; length < frameEnd; length++)
    assert.equal(readHeader(file.subarray(0, length)), undefined)
  assert.deepEqual(readHeader(file.subarray(0, frameEnd)), {
    format: 'jpeg',
    width: 300,
    height: 7,
    progressive: false,
  })
})

test('noise after a signature never throws or hangs', () => {
  const roll = dice(3)
  for (let i = 0; i < 2000; i++) {
    const noise = Uint8Array.from({ length: roll(300) }, () => (roll(3) === 0 ? 0xff : roll(256)))
    for (const start of [signature, Buffer.from([0xff, 0xd8, 0xff]), Buffer.from('BM')]) {
      const header = readHeader(Buffer.concat([start, noise]))
      if (header) assert.ok(Number.isInteger(header.width) && Number.isInteger(header.height))
    }
  }
})
