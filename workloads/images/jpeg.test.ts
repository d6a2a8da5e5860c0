/** Decoding and encoding JPEG, compared with jpeg-js and the plain formula of the transform. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decode as reference } from 'jpeg-js'
import { componentsOf, type JpegRecipe, jpegFile, segment } from '../testing/jpeg-files.ts'
import { difference, photo } from '../testing/pictures.ts'
import { decodeJpeg } from './jpeg-decode.ts'
import { encodeJpeg } from './jpeg-encode.ts'
import { zigzag } from './jpeg-tables.ts'

const ignore = () => {}
const grey: [number, number][] = [[1, 1]]
const samplings: Record<string, [number, number][]> = {
  grey,
  'grey of larger units': [[2, 2]],
  full: [
    [1, 1],
    [1, 1],
    [1, 1],
  ],
  'halved both ways': [
    [2, 2],
    [1, 1],
    [1, 1],
  ],
  'halved across': [
    [2, 1],
    [1, 1],
    [1, 1],
  ],
  'quartered, one less': [
    [4, 1],
    [1, 1],
    [2, 1],
  ],
}

for (const [name, sampling] of Object.entries(samplings)) {
  test(`colours ${name}: pixels agree with jpeg-js`, () => {
    for (const [width, height] of [
      [1, 1],
      [17, 9],
      [70, 45],
    ] as const) {
      for (const more of [{}, { separate: true }, { progressive: true }]) {
        const file = jpegFile({ width, height, sampling, ...more })
        const ours = decodeJpeg(file, ignore)
        const theirs = reference(file, { useTArray: true })
        assert.deepEqual([ours.width, ours.height], [width, height])
        assert.ok(difference(ours.data, theirs.data) < 1, `${width} × ${height} ${JSON.stringify(more)}`)
      }
    }
  })

  test(`colours ${name}: separate scans and restarts give the same pixels`, () => {
    const recipe: JpegRecipe = { width: 75, height: 50, sampling, seed: 7 }
    const plain = decodeJpeg(jpegFile(recipe), ignore)
    for (const more of [
      { separate: true },
      { restartInterval: 1 },
      { restartInterval: 7 },
      { progressive: true },
      { progressive: true, restartInterval: 3 },
    ]) {
      assert.deepEqual(decodeJpeg(jpegFile({ ...recipe, ...more }), ignore), plain, JSON.stringify(more))
    }
  })
}

test('a block agrees with the formula of the transform', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const recipe: JpegRecipe = { width: 8, height: 8, sampling: grey, seed }
    const stored = componentsOf(recipe)[0]!.blocks[0]!
    const { data } = decodeJpeg(jpegFile(recipe), ignore)
    for (let pixel = 0; pixel < 64; pixel++) {
      let sum = 0
      for (let i = 0; i < 64; i++) {
        const [v, u] = [zigzag[i]! >> 3, zigzag[i]! & 7]
        const wave = (place: number, k: number) =>
          Math.cos(((2 * place + 1) * k * Math.PI) / 16) * (k === 0 ? Math.SQRT1_2 : 1)
        sum += (stored[i]! * 3 * wave(pixel >> 3, v) * wave(pixel & 7, u)) / 4
      }
      const exact = Math.max(0, Math.min(255, sum + 128))
      assert.ok(Math.abs(data[pixel * 4]! - exact) <= 0.501, `seed ${seed}, pixel ${pixel}`)
    }
  }
})

test('RGB is recognized by the Adobe segment and by component IDs', () => {
  const recipe: JpegRecipe = { width: 20, height: 20, sampling: samplings.full!, seed: 3 }
  const adobe = (transform: number) => segment(0xee, [...Buffer.from('Adobe'), 0, 100, 0, 0, 0, 0, transform])
  const transformed = decodeJpeg(jpegFile(recipe), ignore)
  const plain = decodeJpeg(jpegFile({ ...recipe, extra: [adobe(0)] }), ignore)
  const theirs = reference(jpegFile(recipe), { useTArray: true, colorTransform: false })
  assert.ok(difference(plain.data, theirs.data) < 1)
  assert.ok(difference(plain.data, transformed.data) > 5)
  assert.deepEqual(decodeJpeg(jpegFile({ ...recipe, ids: [...Buffer.from('RGB')] }), ignore), plain)
  assert.deepEqual(decodeJpeg(jpegFile({ ...recipe, extra: [adobe(1)] }), ignore), transformed)
  for (const transform of [0, 2]) {
    const inks = jpegFile({ ...recipe, sampling: Array(4).fill([1, 1]), extra: [adobe(transform)] })
    const theirInks = reference(inks, { useTArray: true })
    assert.ok(difference(decodeJpeg(inks, ignore).data, theirInks.data) < 1, `inks, transform ${transform}`)
  }
})

test('a picture is rotated by its Exif orientation', () => {
  const recipe: JpegRecipe = { width: 24, height: 10, sampling: grey, seed: 5 }
  const stored = decodeJpeg(jpegFile(recipe), ignore)
  const storedAt = (x: number, y: number) => stored.data[(y * 24 + x) * 4]
  // The pixel at the top left corner, and the one to its right.
  const corners: Record<number, [number, number, number, number]> = {
    1: [0, 0, 1, 0],
    2: [23, 0, 22, 0],
    3: [23, 9, 22, 9],
    4: [0, 9, 1, 9],
    5: [0, 0, 0, 1],
    6: [0, 9, 0, 8],
    7: [23, 9, 23, 8],
    8: [23, 0, 23, 1],
  }
  for (const [orientation, [x, y, nextX, nextY]] of Object.entries(corners)) {
    for (const order of ['MM', 'II']) {
      const entry = [
        [1, 18],
        [0, 3],
        [0, 0, 0, 1],
        [0, Number(orientation)],
      ]
      const sized = order === 'MM' ? entry : entry.map((bytes) => bytes.toReversed())
      const head = order === 'MM' ? [0, 42, 0, 0, 0, 8, 0, 1] : [42, 0, 8, 0, 0, 0, 1, 0]
      const exif = segment(0xe1, [
        ...Buffer.from(`Exif\0\0${order}`),
        ...head,
        ...sized.flat(),
        0,
        0,
        0,
        0,
        0,
        0,
      ])
      const turned = decodeJpeg(jpegFile({ ...recipe, extra: [exif] }), ignore)
      assert.deepEqual([turned.width, turned.height], Number(orientation) < 5 ? [24, 10] : [10, 24])
      assert.equal(turned.data[0], storedAt(x, y), `orientation ${orientation}`)
      assert.equal(turned.data[4], storedAt(nextX, nextY), `orientation ${orientation}`)
    }
  }
})

test('full quality is nearly lossless, also for jpeg-js', () => {
  for (const [width, height] of [
    [1, 1],
    [8, 8],
    [33, 20],
    [100, 3],
  ] as const) {
    for (const traits of [{}, { grey: true }]) {
      const picture = photo(width, height, traits)
      const file = encodeJpeg(picture, 100, ignore)
      assert.ok(difference(decodeJpeg(file, ignore).data, picture.data) < 1)
      assert.ok(difference(reference(file, { useTArray: true }).data, picture.data) < 1.5)
    }
  }
})

test('higher quality gives a larger file and a smaller error', () => {
  const picture = photo(64, 64, { noise: 40 })
  const files = [1, 25, 50, 75, 90, 100].map((quality) => encodeJpeg(picture, quality, ignore))
  const sizes = files.map(({ length }) => length)
  const errors = files.map((file) => difference(decodeJpeg(file, ignore).data, picture.data))
  assert.deepEqual(
    sizes,
    sizes.toSorted((a, b) => a - b),
  )
  assert.deepEqual(
    errors,
    errors.toSorted((a, b) => b - a),
  )
  assert.ok(encodeJpeg(photo(64, 64, { grey: true, noise: 40 }), 50, ignore).length < sizes[2]!)
})

test('extreme patterns are encoded correctly', () => {
  for (let pattern = 0; pattern < 8; pattern++) {
    const data = new Uint8Array(16 * 16 * 4).fill(255)
    for (let i = 0; i < 256; i++) {
      const [x, y] = [i % 16, i >> 4]
      const on = [x & 1, y & 1, (x ^ y) & 1, x & 2, (x + 2) & 4, (x >> 2) & (y >> 2) & 1, x & 4, i % 3][
        pattern
      ]
      data.fill(on ? 255 : 0, i * 4, i * 4 + (pattern & 1 ? 1 : 3))
    }
    const file = encodeJpeg({ width: 16, height: 16, data }, 100, ignore)
    assert.ok(difference(decodeJpeg(file, ignore).data, data) < 2, `pattern ${pattern}`)
  }
})
