/** The number of colours, derived from the first bytes. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeBmp } from '../images/bmp-encode.ts'
import { encodeJpeg } from '../images/jpeg-encode.ts'
import { encodePng } from '../images/png-encode.ts'
import { photo } from '../testing/pictures.ts'
import { coloursOf } from './outlook.ts'

const ignore = () => {}

test('grey pictures and pictures with few colours are recognized, because they cost less', () => {
  const many = photo(60, 45)
  const grey = photo(60, 45, { grey: true })
  const few = photo(60, 45)
  for (let i = 0; i < few.data.length; i += 4) few.data.set([(i >> 10) & 3, 200, 9], i)
  for (const [colours, picture] of Object.entries({ many, grey, few })) {
    assert.equal(coloursOf(encodePng(picture, 6, ignore), 'png'), colours)
    assert.equal(coloursOf(encodeBmp(picture, ignore), 'bmp'), colours)
    if (colours !== 'few') assert.equal(coloursOf(encodeJpeg(picture, 90, ignore), 'jpeg'), colours)
  }
})

test('a truncated head does not fail', () => {
  const picture = photo(60, 45)
  const files = {
    png: encodePng(picture, 6, ignore),
    bmp: encodeBmp(picture, ignore),
    jpeg: encodeJpeg(picture, 90, ignore),
  }
  for (const format of ['png', 'bmp', 'jpeg'] as const) {
    for (let length = 0; length < 700; length++) coloursOf(files[format].subarray(0, length), format)
  }
})

test('a BMP with a pixel offset beyond its end does not fail', () => {
  const file = Buffer.from(encodeBmp(photo(60, 45), ignore))
  for (const start of [0, file.length - 3, file.length, 0x7fffffff, 0xffffffff]) {
    file.writeUInt32LE(start, 10)
    coloursOf(file, 'bmp')
  }
})
