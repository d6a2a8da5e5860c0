/** Pictures of julia, and rejected input. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decode } from 'fast-png'
import { fakeContext } from 'plimsoll/testing'
import julia from './julia.ts'
import { problems, readParams } from './testing/params.ts'

// A fixed seed: every run checks the same cases.
fc.configureGlobal({ seed: 1 })

interface Picture {
  body: Uint8Array
  contentType: string
}

async function draw(input: Record<string, unknown> = {}, ctx = fakeContext()): Promise<Picture> {
  return (await julia.run(readParams(julia, input), ctx)) as Picture
}

test('the response is a PNG of the requested size, the same each time', async () => {
  const side = fc.integer({ min: 1, max: 40 })
  await fc.assert(
    fc.asyncProperty(side, side, fc.integer({ min: 1, max: 50 }), async (width, height, iterations) => {
      const params = { width, height, iterations }
      const { body, contentType } = await draw(params)
      assert.equal(contentType, 'image/png')
      const picture = decode(body)
      assert.deepEqual([picture.width, picture.height], [width, height])
      assert.deepEqual((await draw(params)).body, body)
    }),
    { numRuns: 30 },
  )
})

test('all parameters have defaults', async () => {
  const defaults = { width: 256, height: 256, cx: -0.8, cy: 0.156, x: 0, y: 0, zoom: 1 }
  assert.deepEqual(readParams(julia, {}), { ...defaults, iterations: 256, palette: 'fire' })
  const { width, height } = decode((await draw()).body)
  assert.deepEqual([width, height], [256, 256])
})

test('for c = 0 the bounded points are the unit disc', async () => {
  const width = 61
  const { data } = decode((await draw({ cx: 0, cy: 0, width, height: width, iterations: 500 })).body)
  for (let row = 0; row < width; row++) {
    for (let column = 0; column < width; column++) {
      const distance = Math.hypot((column - 30) * (3 / width), (row - 30) * (3 / width))
      assert.equal(data[row * width + column] === 0, distance <= 1, `row ${row}, column ${column}`)
    }
  }
})

test('centre and zoom move and scale the picture', async () => {
  const whole = decode((await draw({ width: 60, height: 60 })).body)
  const quarter = { width: 30, height: 30, zoom: 2, x: 0.75, y: 0.75 }
  const part = decode((await draw(quarter)).body)
  for (let row = 0; row < 30; row++) {
    const upperRight = whole.data.subarray(row * 60 + 30, row * 60 + 60)
    assert.deepEqual([...part.data.subarray(row * 30, row * 30 + 30)], [...upperRight])
  }
})

test('each palette has its own colours and shows the same shades', async () => {
  const pictures: ReturnType<typeof decode>[] = []
  for (const palette of ['fire', 'ice', 'forest', 'grey']) {
    pictures.push(decode((await draw({ width: 20, height: 20, palette })).body))
  }
  for (const { data, palette } of pictures) {
    assert.deepEqual(data, pictures[0]?.data)
    assert.equal(palette?.length, 256)
  }
  assert.equal(new Set(pictures.map(({ palette }) => JSON.stringify(palette))).size, 4)
})

test('progress is reported after each row', async () => {
  const ctx = fakeContext()
  await draw({ width: 3, height: 4 }, ctx)
  assert.deepEqual(ctx.fractions, [0.25, 0.5, 0.75, 1])
})

test('parameters may be strings or numbers', () => {
  const fromText = { width: '12', height: '7', cx: '-.5', cy: '1e-1', zoom: '2.5', iterations: '0100' }
  const fromJson = { width: 12, height: 7, cx: -0.5, cy: 0.1, zoom: 2.5, iterations: 100 }
  assert.deepEqual(readParams(julia, fromText), readParams(julia, fromJson))
})

const allowed: Record<string, string> = {
  width: 'a whole number from 1 to 4096',
  height: 'a whole number from 1 to 4096',
  cx: 'a number from -2 to 2',
  cy: 'a number from -2 to 2',
  x: 'a number from -2 to 2',
  y: 'a number from -2 to 2',
  zoom: 'a number from 0.1 to 1000000000000',
  iterations: 'a whole number from 1 to 10000',
  palette: 'one of fire, ice, forest, grey',
}

test('invalid parameters are rejected with the allowed values', () => {
  for (const [name, range] of Object.entries(allowed)) {
    for (const value of ['', ' 1', 'abc', '0x10', 'NaN', 'Infinity', true, false, null, [], [1], {}]) {
      const said = `${name}: must be ${range}, not ${JSON.stringify(value)}`
      assert.equal(problems(julia, { [name]: value }), said)
    }
    for (const value of [-5, 1e13, NaN, Infinity]) {
      assert.equal(problems(julia, { [name]: value }), `${name}: must be ${range}, not ${value}`)
    }
  }
  for (const name of ['width', 'height', 'iterations']) {
    for (const value of [0, -1.5, 1.5]) {
      assert.equal(problems(julia, { [name]: value }), `${name}: must be ${allowed[name]}, not ${value}`)
    }
    assert.match(problems(julia, { [name]: '1.5' }), /must be a whole number/)
    assert.match(problems(julia, { [name]: '99999999999999999999' }), /must be a whole number/)
  }
})

test('an unknown parameter is rejected with the known names', () => {
  const said = 'unknown: widht; allowed: width, height, cx, cy, x, y, zoom, iterations, palette'
  assert.equal(problems(julia, { widht: 3 }), said)
})

test('features include the approximate number of steps, inside and outside the set', () => {
  const steps = (params: Record<string, unknown>) => {
    const { pixels, steps } = julia.features!(readParams(julia, params), { bytes: 0, head: new Uint8Array() })
    return Number(steps) / Number(pixels)
  }
  // All points of the first view are bounded, none of the second.
  assert.ok(Math.abs(steps({ cx: 0, cy: 0, zoom: 10, iterations: 5000 }) / 5000 - 1) < 0.01)
  assert.ok(steps({ cx: 2, cy: 2, iterations: 5000 }) < 20)
  const late = steps({ iterations: 5000 })
  assert.ok(late > 20 && late < 200, String(late))
  for (const zoom of [0.1, 1e12])
    assert.ok(Number.isFinite(steps({ zoom, width: 1, height: 1, iterations: 1 })))
})
