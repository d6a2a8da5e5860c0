/** Decoding and encoding BMP. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dice, photo } from '../testing/pictures.ts'
import { decodeBmp } from './bmp-decode.ts'
import { encodeBmp } from './bmp-encode.ts'

const ignore = () => {}

interface BmpRecipe {
  width: number
  height: number
  bits: number
  /** A stored pixel. */
  pixel(x: number, y: number): number
  headerBytes?: number
  topDown?: boolean
  /** Red, green, blue. */
  palette?: number[][]
  masks?: number[]
  compression?: number
}

/** A BMP file, written bit by bit. */
function bmpFile(recipe: BmpRecipe): Buffer {
  const { width, height, bits, pixel, headerBytes = 40, topDown, palette = [], masks = [] } = recipe
  const head = Buffer.alloc(14 + headerBytes)
  head.write('BM')
  head.writeUInt32LE(headerBytes, 14)
  if (headerBytes === 12) {
    head.writeUInt16LE(width, 18)
    head.writeUInt16LE(height, 20)
    head.writeUInt16LE(bits, 24)
  } else {
    head.writeInt32LE(width, 18)
    head.writeInt32LE(topDown ? -height : height, 22)
    head.writeUInt16LE(bits, 28)
    head.writeUInt32LE(recipe.compression ?? 0, 30)
    head.writeUInt32LE(palette.length, 46)
  }
  const maskBytes = Buffer.alloc(masks.length * 4)
  masks.forEach((mask, i) => void maskBytes.writeUInt32LE(mask, i * 4))
  if (headerBytes > 40) maskBytes.copy(head, 54)
  const colours = palette.flatMap(([red, green, blue]) => [
    blue!,
    green!,
    red!,
    ...(headerBytes === 12 ? [] : [0]),
  ])
  const parts = [head, ...(headerBytes > 40 ? [] : [maskBytes]), Buffer.from(colours)]
  head.writeUInt32LE(
    parts.reduce((sum, { length }) => sum + length, 0),
    10,
  )
  for (let row = 0; row < height; row++) {
    const y = topDown ? row : height - 1 - row
    let stored = ''
    for (let x = 0; x < width; x++) {
      const text = pixel(x, y).toString(2).padStart(bits, '0')
      stored += bits < 8 ? text : (text.match(/.{8}/g) ?? []).toReversed().join('')
    }
    const bytes = (stored.padEnd(Math.ceil(stored.length / 32) * 32, '0').match(/.{8}/g) ?? []).map((byte) =>
      Number.parseInt(byte, 2),
    )
    parts.push(Buffer.from(bytes))
  }
  return Buffer.concat(parts)
}

const [width, height] = [13, 7]
const at = (values: number[]) => (x: number, y: number) => values[y * width + x]!

function check(
  recipe: Omit<BmpRecipe, 'width' | 'height'>,
  colour: (pixel: number) => number[],
  name: string,
): void {
  const pixels = Array.from({ length: height }, (_, y) =>
    Array.from({ length: width }, (__, x) => recipe.pixel(x, y)),
  )
  const data = Uint8Array.from(pixels.flat().flatMap(colour))
  for (const topDown of recipe.headerBytes === 12 ? [false] : [false, true]) {
    const file = bmpFile({ width, height, topDown, ...recipe })
    assert.deepEqual(decodeBmp(file, ignore), { width, height, data }, `${name}, top row first: ${topDown}`)
  }
}

test('palettes of 1, 4 and 8 bits are read, also with old headers', () => {
  for (const bits of [1, 4, 8]) {
    const roll = dice(bits)
    const palette = Array.from({ length: Math.min(2 ** bits, 200) }, () => [roll(256), roll(256), roll(256)])
    const pixel = at(Array.from({ length: width * height }, () => roll(palette.length)))
    for (const headerBytes of [12, 40, 108]) {
      check({ bits, palette, pixel, headerBytes }, (index) => [...palette[index]!, 255], `${bits} bits`)
    }
  }
})

test('24 and 32 bits are read; the fourth byte is alpha only if a header says so', () => {
  const roll = dice(1)
  const rgb = (pixel: number) => [(pixel >>> 16) & 255, (pixel >>> 8) & 255, pixel & 255]
  const colours = at(Array.from({ length: width * height }, () => roll(2 ** 24)))
  for (const headerBytes of [12, 40, 124]) {
    check({ bits: 24, headerBytes, pixel: colours }, (pixel) => [...rgb(pixel), 255], '24 bits')
  }
  const withAlpha = at(Array.from({ length: width * height }, () => roll(2 ** 24) * 256 + roll(256)))
  check({ bits: 32, pixel: withAlpha }, (pixel) => [...rgb(pixel), 255], '32 bits')
  const masks = [0xff0000, 0xff00, 0xff, 0xff000000]
  for (const compression of [0, 3]) {
    const newer = { bits: 32, pixel: withAlpha, headerBytes: 124, masks, compression }
    check(newer, (pixel) => [...rgb(pixel), pixel >>> 24], '32 bits with alpha')
  }
})

test('masks may have any position and width', () => {
  const roll = dice(2)
  const short = at(Array.from({ length: width * height }, () => roll(2 ** 16)))
  const level = (value: number, largest: number) => Math.round((value * 255) / largest)
  const five = (pixel: number, shift: number) => level((pixel >> shift) & 31, 31)
  check({ bits: 16, pixel: short }, (p) => [five(p, 10), five(p, 5), five(p, 0), 255], '5 bits each')
  check(
    { bits: 16, pixel: short, compression: 3, masks: [0xf800, 0x07e0, 0x001f] },
    (p) => [five(p, 11), level((p >> 5) & 63, 63), five(p, 0), 255],
    '5, 6 and 5 bits',
  )
  const long = at(Array.from({ length: width * height }, () => roll(2 ** 24) * 256 + roll(256)))
  check(
    { bits: 32, pixel: long, compression: 3, masks: [0x3ff00000, 0xffc00, 0x3ff] },
    (p) => [(p >>> 22) & 255, (p >>> 12) & 255, (p >>> 2) & 255, 255],
    '10 bits each, of which 8 count',
  )
})

test('encoding and decoding is lossless', () => {
  for (const [w, h] of [
    [1, 1],
    [2, 3],
    [3, 2],
    [40, 70],
  ] as const) {
    const picture = photo(w, h)
    const file = encodeBmp(picture, ignore)
    assert.deepEqual(decodeBmp(file, ignore), picture)
    const pixel = (x: number, y: number) =>
      picture.data
        .subarray((y * w + x) * 4)
        .slice(0, 3)
        .reduce((all, byte) => all * 256 + byte)
    const expected = bmpFile({ width: w, height: h, bits: 24, pixel })
    assert.deepEqual(Buffer.from(file).subarray(54), expected.subarray(54))
  }
})
