/** Decoding and encoding PNG, compared with independently computed pixels and fast-png. */

import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { createDeflate, deflateSync } from 'node:zlib'
import { decode as reference } from 'fast-png'
import { dice, photo, type TestPicture } from '../testing/pictures.ts'
import { chunk, ihdr, type PngRecipe, pngFile, rowsOf, signature } from '../testing/png-files.ts'
import { decodePng } from './png-decode.ts'
import { encodePng } from './png-encode.ts'

const ignore = () => {}
const channelsOf: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }
const kinds = [
  ...[1, 2, 4, 8, 16].map((depth) => [0, depth] as const),
  ...[1, 2, 4, 8].map((depth) => [3, depth] as const),
  ...[2, 4, 6].flatMap((colourType) => [8, 16].map((depth) => [colourType, depth] as const)),
]

/** A picture of random samples, and its expected pixels. */
function sample(colourType: number, depth: number, more: Partial<PngRecipe> = {}) {
  const { width = 13, height = 11 } = more
  const roll = dice(colourType * 100 + depth)
  const limit = colourType === 3 ? Math.min(2 ** depth, 200) : 2 ** depth
  const samples = Array.from({ length: width * height }, () =>
    Array.from({ length: channelsOf[colourType]! }, () => roll(limit)),
  )
  const palette = Uint8Array.from({ length: limit * 3 }, () => roll(256))
  const recipe: PngRecipe = {
    ...{ width, height, depth, colourType, pixel: (x, y) => samples[y * width + x]! },
    ...(colourType === 3 && { palette }),
    filter: (row) => row % 5,
    ...more,
  }
  const level = (value: number) => Math.round((value * 255) / (2 ** depth - 1))
  const key = recipe.transparency && colourType !== 3 ? Buffer.from(recipe.transparency) : undefined
  const pixels = samples.flatMap((values) => {
    if (colourType === 3) {
      const at = values[0]! * 3
      return [...palette.subarray(at, at + 3), recipe.transparency?.[values[0]!] ?? 255]
    }
    const keyed = key && values.every((value, i) => value === key.readUInt16BE(i * 2))
    const colours = colourType === 2 || colourType === 6 ? values.slice(0, 3) : Array(3).fill(values[0])
    return [...colours.map(level), keyed ? 0 : colourType >= 4 ? level(values.at(-1)!) : 255]
  })
  return { file: pngFile(recipe), data: Uint8Array.from(pixels) }
}

for (const [colourType, depth] of kinds) {
  test(`colour type ${colourType} of ${depth} bits is read, plain and interlaced, with every filter`, () => {
    for (const interlaced of [false, true]) {
      for (const [width, height] of [
        [1, 1],
        [13, 11],
        [3, 9],
        [9, 3],
      ] as const) {
        const { file, data } = sample(colourType, depth, { width, height, interlaced })
        assert.deepEqual(
          decodePng(file, ignore),
          { width, height, data },
          `${width} × ${height} ${interlaced}`,
        )
      }
    }
  })
}

test('transparency is read for palettes, grey and colour', () => {
  for (const depth of [1, 2, 4, 8]) {
    const { file, data } = sample(3, depth, { transparency: Uint8Array.of(0, 100) })
    assert.deepEqual(decodePng(file, ignore).data, data)
  }
  for (const [colourType, depth] of kinds.filter(([type]) => type === 0 || type === 2)) {
    const first = sample(colourType, depth, {})
    // The first pixel has the transparent colour.
    const roll = dice(colourType * 100 + depth)
    const values = Array.from({ length: channelsOf[colourType]! }, () => roll(2 ** depth))
    const transparency = Uint8Array.from(values.flatMap((value) => [value >> 8, value & 255]))
    const { file, data } = sample(colourType, depth, { transparency })
    assert.deepEqual(decodePng(file, ignore).data, data)
    assert.equal(data[3], 0)
    assert.equal(first.data[3], 255)
  }
})

test('chunk boundaries and ancillary chunks do not matter', () => {
  const { file, data } = sample(6, 8)
  const extra = [chunk('tEXt', Buffer.from('Title\0x')), chunk('gAMA', Buffer.alloc(4))]
  // An embedded profile is never inflated.
  extra.push(chunk('iCCP', Buffer.concat([Buffer.from('bomb\0\0'), deflateSync(Buffer.alloc(50_000_000))])))
  for (const pieceBytes of [1, 2, 7, 100]) {
    const cut = sample(6, 8, { pieceBytes, extra }).file
    assert.notDeepEqual(cut, file)
    assert.deepEqual(decodePng(cut, ignore).data, data)
  }
})

test('excess data is ignored', async () => {
  const recipe: PngRecipe = { width: 5, height: 5, depth: 8, colourType: 0, pixel: (x, y) => [x * y] }
  const megabyte = Buffer.alloc(2 ** 20)
  const rows = Readable.from([rowsOf(recipe), ...Array(200).fill(megabyte)])
  const deflated = Buffer.concat(await rows.pipe(createDeflate({ level: 1 })).toArray())
  const bomb = [signature, ihdr(5, 5, 8, 0, 0, 0, 0), chunk('IDAT', deflated), chunk('IEND', Buffer.alloc(0))]
  const beforeKib = process.resourceUsage().maxRSS
  assert.deepEqual(decodePng(Buffer.concat(bomb), ignore), decodePng(pngFile(recipe), ignore))
  assert.ok(process.resourceUsage().maxRSS - beforeKib < 100_000)
})

const few = (colours: number, alpha = 255): TestPicture => {
  const picture = photo(40, 30)
  for (let i = 0; i < 40 * 30; i++)
    picture.data.set([(i % colours) & 255, i % colours === 0 ? 9 : 7, 3, alpha], i * 4)
  return picture
}

test('encoding is lossless at every level', () => {
  const pictures: TestPicture[] = [
    ...[photo(1, 1), photo(50, 40), photo(50, 40, { alpha: true }), photo(50, 40, { grey: true })],
    ...[photo(50, 40, { grey: true, alpha: true }), photo(3000, 9), photo(2, 3000)],
    ...[1, 2, 3, 4, 5, 16, 17, 256].flatMap((colours) => [few(colours), few(colours, 99)]),
  ]
  for (const picture of pictures) {
    for (const level of [0, 1, 9]) {
      const read = decodePng(encodePng(picture, level, ignore), ignore)
      assert.deepEqual(read, picture)
    }
  }
})

test('encoding a drawing of flat shapes is lossless at every level', () => {
  for (let seed = 0; seed < 30; seed++) {
    const roll = dice(seed)
    const [width, height] = [30 + roll(40), 30 + roll(40)]
    const data = new Uint8Array(width * height * 4).fill(255)
    for (let shape = 0; shape < 8 + seed; shape++) {
      const colour = [roll(256), roll(256), roll(256)]
      const [left, top] = [roll(width), roll(height)]
      const [right, bottom] = [Math.min(width, left + 2 + roll(20)), Math.min(height, top + 2 + roll(20))]
      for (let y = top; y < bottom; y++) {
        for (let x = left; x < right; x++) data.set(colour, 4 * (y * width + x))
      }
    }
    for (let level = 0; level <= 9; level++) {
      const back = decodePng(encodePng({ width, height, data }, level, ignore), ignore)
      assert.ok(Buffer.from(back.data).equals(data), `seed ${seed}, level ${level}`)
    }
  }
})

test('fast-png reads the result, which has the fewest possible channels and bits', () => {
  const layouts: [TestPicture, number, number, number | undefined][] = [
    [photo(50, 40), 3, 8, undefined],
    [photo(50, 40, { alpha: true }), 4, 8, undefined],
    [photo(50, 40, { grey: true }), 1, 8, undefined],
    [photo(150, 140, { grey: true, alpha: true }), 2, 8, undefined],
    [few(2), 1, 1, 2],
    [few(4), 1, 2, 4],
    [few(16), 1, 4, 16],
    [few(256), 1, 8, 256],
  ]
  for (const [picture, channels, depth, colours] of layouts) {
    for (const level of [0, 6]) {
      const read = reference(encodePng(picture, level, ignore), { checkCrc: true })
      assert.deepEqual([read.channels, read.depth, read.palette?.length], [channels, depth, colours])
      if (colours) continue
      const kept = [[0], [0, 3], [0, 1, 2], [0, 1, 2, 3]][channels - 1]!
      assert.deepEqual(
        [...read.data],
        [...picture.data].filter((_, i) => kept.includes(i % 4)),
      )
    }
  }
})

test('a higher level gives a smaller file', () => {
  const sizes = [0, 1, 6, 9].map((level) => encodePng(photo(120, 120, { noise: 2 }), level, ignore).length)
  assert.deepEqual(
    sizes,
    sizes.toSorted((a, b) => b - a),
  )
})
