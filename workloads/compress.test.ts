/** Conversions of compress, and rejected input. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decode as decodeReferenceJpeg } from 'jpeg-js'
import { fakeContext } from 'plimsoll/testing'
import { Refusal, type Reply } from 'plimsoll/workload'
import compress from './compress.ts'
import { decodeBmp } from './images/bmp-decode.ts'
import { encodeBmp } from './images/bmp-encode.ts'
import { encodeJpeg } from './images/jpeg-encode.ts'
import { limits } from './images/picture.ts'
import { decodePng } from './images/png-decode.ts'
import { encodePng } from './images/png-encode.ts'
import { jpegFile, segment } from './testing/jpeg-files.ts'
import { problems, readParams } from './testing/params.ts'
import { bodyOf, difference, photo, type TestPicture } from './testing/pictures.ts'
import { chunk, ihdr, signature } from './testing/png-files.ts'

const ignore = () => {}

async function convert(
  bytes: Uint8Array,
  input: Record<string, unknown> = {},
  ctx = {},
): Promise<Reply & { body: Uint8Array }> {
  const context = fakeContext({ body: bodyOf(bytes, 1000), ...ctx })
  return (await compress.run(readParams(compress, input), context)) as Reply & { body: Uint8Array }
}

async function refusal(bytes: Uint8Array, input = {}): Promise<string> {
  const error = await convert(bytes, input).then(
    () => assert.fail('not refused'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof Refusal, String(error))
  return `${error.status} ${error.message}`
}

const originals: Record<string, (picture: TestPicture) => Uint8Array> = {
  png: (picture) => encodePng(picture, 6, ignore),
  jpeg: (picture) => encodeJpeg(picture, 95, ignore),
  bmp: (picture) => encodeBmp(picture, ignore),
}
const read: Record<string, (bytes: Uint8Array) => { data: Uint8Array }> = {
  png: (bytes) => decodePng(bytes, ignore),
  jpeg: (bytes) => decodeReferenceJpeg(bytes, { useTArray: true }),
  bmp: (bytes) => decodeBmp(bytes, ignore),
}

test('each format is converted to each', async () => {
  const picture = photo(60, 45)
  for (const [from, original] of Object.entries(originals)) {
    const bytes = original(picture)
    for (const [format, readBack] of Object.entries(read)) {
      const { body, contentType, headers } = await convert(bytes, { format, quality: 0.95 })
      const lossy = from === 'jpeg' || format === 'jpeg'
      assert.ok(difference(readBack(body).data, picture.data) <= (lossy ? 4 : 0), `${from} to ${format}`)
      assert.equal(contentType, `image/${format}`)
      assert.deepEqual(headers, {
        'picture-width': '60',
        'picture-height': '45',
        'picture-bytes': String(body.length),
        'original-format': from,
        'original-width': '60',
        'original-height': '45',
        'original-bytes': String(bytes.length),
      })
    }
  }
})

test('equal requests have equal responses', async () => {
  for (const format of ['png', 'jpeg', 'bmp']) {
    const bytes = originals.png!(photo(90, 40, { alpha: true }))
    assert.deepEqual(await convert(bytes, { format }), await convert(bytes, { format }))
  }
})

test('a lower quality gives a smaller PNG and JPEG', async () => {
  const bytes = originals.bmp!(photo(100, 100, { noise: 3 }))
  for (const format of ['png', 'jpeg']) {
    const sizes: number[] = []
    for (const quality of [0, 0.5, 1]) sizes.push((await convert(bytes, { format, quality })).body.length)
    assert.deepEqual(
      sizes,
      sizes.toSorted((a, b) => a - b),
    )
    assert.ok(sizes[2]! > sizes[0]!)
  }
})

test('PNG keeps transparency; JPEG and BMP show it over white', async () => {
  const picture = photo(50, 8, { alpha: true })
  const over = picture.data.map((value, i) => {
    const alpha = picture.data[i | 3]! / 255
    return i % 4 === 3 ? 255 : Math.round(value * alpha + 255 * (1 - alpha))
  })
  const bytes = originals.png!(picture)
  assert.deepEqual(decodePng((await convert(bytes, { format: 'png' })).body, ignore).data, picture.data)
  assert.deepEqual(decodeBmp((await convert(bytes, { format: 'bmp' })).body, ignore).data, over)
  const jpeg = (await convert(bytes, { format: 'jpeg', quality: 1 })).body
  assert.ok(difference(read.jpeg!(jpeg).data, over) < 2)
})

test('a picture is scaled down by averaging until its longer side fits', async () => {
  const picture = photo(64, 32, { alpha: true })
  const { body, headers } = await convert(originals.png!(picture), { format: 'png', maxSide: 16 })
  assert.deepEqual([headers['picture-width'], headers['picture-height']], ['16', '8'])
  assert.deepEqual([headers['original-width'], headers['original-height']], ['64', '32'])
  const small = decodePng(body, ignore)
  for (let i = 0; i < 16 * 8; i++) {
    const sums = [0, 0, 0, 0]
    for (let j = 0; j < 16; j++) {
      const at = ((Math.floor(i / 16) * 4 + (j >> 2)) * 64 + (i % 16) * 4 + (j & 3)) * 4
      const alpha = picture.data[at + 3]!
      for (let channel = 0; channel < 3; channel++) sums[channel]! += picture.data[at + channel]! * alpha
      sums[3]! += alpha
    }
    const expected = [...sums.slice(0, 3).map((sum) => Math.round(sum / sums[3]!)), Math.round(sums[3]! / 16)]
    assert.deepEqual([...small.data.subarray(i * 4, i * 4 + 4)], expected)
  }
  for (const maxSide of [64, 100]) {
    const same = await convert(originals.png!(picture), { format: 'png', maxSide })
    assert.deepEqual(decodePng(same.body, ignore), picture)
  }
  const line = await convert(originals.bmp!(photo(500, 1)), { maxSide: 7 })
  assert.deepEqual([line.headers['picture-width'], line.headers['picture-height']], ['7', '1'])
})

test('progress grows to 1', async () => {
  for (const from of ['png', 'jpeg', 'bmp']) {
    for (const format of ['png', 'jpeg', 'bmp']) {
      const ctx = fakeContext({ body: bodyOf(originals[from]!(photo(300, 200))) })
      await compress.run(readParams(compress, { format }), ctx)
      assert.ok(ctx.fractions.length >= 3)
      assert.deepEqual(
        ctx.fractions,
        ctx.fractions.toSorted((a, b) => a - b),
      )
      assert.equal(ctx.fractions.at(-1), 1)
    }
  }
})

test('features are derived from the head of the body', () => {
  const params = readParams(compress, { format: 'png', quality: 0.5, maxSide: 30 })
  for (const [input, original] of Object.entries(originals)) {
    const head = original(photo(60, 45))
    const features = {
      input,
      output: 'png',
      quality: 0.5,
      pixels: 2700,
      writtenPixels: 675,
      bytes: head.length,
      colours: 'many',
    }
    const { units, ...others } = compress.features!(params, { head, bytes: head.length })
    assert.deepEqual(others, features)
    assert.ok(Number(units) > 0)
  }
})

test('a progressive JPEG is recognized, because it takes longer', () => {
  const head = jpegFile({ width: 8, height: 8, sampling: [[1, 1]], progressive: true })
  const { input } = compress.features!(readParams(compress, {}), { head, bytes: head.length })
  assert.equal(input, 'progressive jpeg')
})

test('features never fail, even if the body will be rejected', () => {
  const params = readParams(compress, {})
  const cost = (head: Uint8Array, bytes = head.length) => {
    const { input, pixels } = compress.features!(params, { head, bytes })
    return [input, pixels]
  }
  assert.deepEqual(cost(new Uint8Array()), ['other', 0])
  assert.deepEqual(cost(Buffer.from('hello')), ['other', 0])
  assert.deepEqual(cost(Buffer.concat([signature, ihdr(0, 5, 8, 6, 0, 0, 0)])), ['png', 0])
  assert.deepEqual(cost(Buffer.concat([signature, ihdr(60_000, 60_000, 8, 6, 0, 0, 0)])), ['png', 0])
  assert.deepEqual(cost(originals.bmp!(photo(9, 9)), limits.bytes + 1), ['bmp', 0])
  const late = jpegFile({
    width: 8,
    height: 8,
    sampling: [[1, 1]],
    extra: [segment(0xe2, Buffer.alloc(60_000))],
  })
  assert.deepEqual(cost(late.subarray(0, 50_000), 1_000_000), ['jpeg', 5_000_000])
})

test('other data is rejected', async () => {
  assert.match(await refusal(new Uint8Array()), /^400 the body is empty: send a picture as the body/)
  for (const text of ['hello', 'GIF89a......', '{}']) {
    assert.equal(
      await refusal(Buffer.from(text)),
      '415 the body is not a picture: it must be one of png, jpeg, bmp',
    )
  }
})

test('a picture that is too large is rejected by its header', async () => {
  const huge = 'at most 20000000 pixels and 32767 a side are allowed'
  const png = Buffer.concat([signature, ihdr(60_000, 2, 8, 6, 0, 0, 0), chunk('IEND', Buffer.alloc(0))])
  assert.equal(await refusal(png), `413 the picture is 60000 × 2: ${huge}`)
  const jpeg = Buffer.from(jpegFile({ width: 8, height: 8, sampling: [[1, 1]] }))
  jpeg.fill(0x70, jpeg.indexOf(Buffer.from([0xff, 0xc0])) + 5, jpeg.indexOf(Buffer.from([0xff, 0xc0])) + 9)
  assert.equal(await refusal(jpeg), `413 the picture is 28784 × 28784: ${huge}`)
  const bmp = Buffer.from(originals.bmp!(photo(3, 3)))
  bmp.writeInt32LE(2 ** 31 - 1, 18)
  assert.equal(await refusal(bmp), `413 the picture is 2147483647 × 3: ${huge}`)
})

test('reading stops when the body is too large', async () => {
  let chunks = 0
  async function* endless() {
    for (; ; chunks++) yield new Uint8Array(2 ** 20)
  }
  const body = Object.assign(endless(), { bytes: () => assert.fail('not all at once') })
  const run = async () => await compress.run(readParams(compress, {}), fakeContext({ body }))
  await assert.rejects(run, { status: 413, message: 'the picture is larger than the 33554432 bytes allowed' })
  assert.equal(chunks, 32)
})

const allowed: Record<string, string> = {
  format: 'one of png, jpeg, bmp',
  quality: 'a number from 0 to 1',
  maxSide: 'a whole number from 1 to 32767',
}

test('invalid parameters are rejected with the allowed values', () => {
  assert.deepEqual(readParams(compress, {}), { format: 'jpeg', quality: 0.7 })
  assert.deepEqual(readParams(compress, { quality: '1', maxSide: '12' }), {
    format: 'jpeg',
    quality: 1,
    maxSide: 12,
  })
  for (const [name, range] of Object.entries(allowed)) {
    for (const value of ['', 'jpg', ' 1', '0x1', true, null, [], {}]) {
      assert.equal(
        problems(compress, { [name]: value }),
        `${name}: must be ${range}, not ${JSON.stringify(value)}`,
      )
    }
    for (const value of [-1, -0.1, 40_000, NaN, Infinity]) {
      assert.equal(problems(compress, { [name]: value }), `${name}: must be ${range}, not ${value}`)
    }
  }
  assert.equal(problems(compress, { size: 1 }), 'unknown: size; allowed: format, quality, maxSide')
})
