/** Pictures of grayscott, stability, and rejected input. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decode } from 'fast-png'
import { fakeContext } from 'plimsoll/testing'
import { emptyField, react, startField } from './grayscott/reaction.ts'
import grayscott from './grayscott.ts'
import { problems, readParams } from './testing/params.ts'

interface Picture {
  body: Uint8Array
  contentType: string
  headers: Record<string, string>
}

async function draw(input: Record<string, unknown> = {}, ctx = fakeContext()): Promise<Picture> {
  return (await grayscott.run(readParams(grayscott, input), ctx)) as Picture
}

/** The same equations cell by cell, in doubles, from the same drops. */
function plain(size: number, seed: number, iterations: number, feed: number, kill: number): number[] {
  const start = startField(size, seed)
  const cells = Array.from({ length: size * size }, (_, i) => {
    return (Math.floor(i / size) + 1) * (size + 2) + (i % size) + 1
  })
  let u = cells.map((at) => start.u[at]!)
  let v = cells.map((at) => start.v[at]!)
  const around = (field: number[], at: number) => {
    const row = Math.floor(at / size)
    const cell = (down: number, right: number) =>
      field[((row + down + size) % size) * size + (((at % size) + right + size) % size)]!
    const edges = cell(-1, 0) + cell(1, 0) + cell(0, -1) + cell(0, 1)
    const corners = cell(-1, -1) + cell(-1, 1) + cell(1, -1) + cell(1, 1)
    return edges * 0.2 + corners * 0.05 - field[at]!
  }
  for (let i = 0; i < iterations; i++) {
    const nextU = u.map((a, at) => a + 0.8 * around(u, at) - a * v[at]! ** 2 + feed * (1 - a))
    v = v.map((b, at) => b + 0.4 * around(v, at) + u[at]! * b ** 2 - (feed + kill) * b)
    u = nextU
  }
  return v
}

test('the picture agrees with the equations', async () => {
  for (const { size, feed, kill } of [
    { size: 16, feed: 0.0545, kill: 0.062 },
    { size: 21, feed: 0.03, kill: 0.05 },
  ]) {
    const { body } = await draw({ size, iterations: 100, feed, kill, seed: 7 })
    const picture = decode(body)
    assert.deepEqual([picture.width, picture.height], [size, size])
    const expected = plain(size, 7, 100, feed, kill)
    for (const [at, v] of expected.entries()) {
      assert.ok(Math.abs(picture.data[at]! - 255 * Math.min(1, v / 0.4)) <= 0.6, `cell ${at}`)
    }
  }
})

test('the same request gives the same picture, another seed another one', async () => {
  const [first, again, other] = await Promise.all(
    [1, 1, 2].map((seed) => draw({ size: 32, iterations: 50, seed })),
  )
  assert.deepEqual(first!.body, again!.body)
  assert.notDeepEqual(first!.body, other!.body)
  assert.equal(first!.contentType, 'image/png')
})

test('it ends when the pattern is stable and reports the iterations', async () => {
  const dying = { size: 32, feed: 0.06, kill: 0.07 }
  const { body, headers } = await draw({ ...dying, iterations: 50_000 })
  assert.equal(headers['grayscott-settled'], 'true')
  const done = Number(headers['grayscott-iterations'])
  assert.ok(done > 0 && done < 1000)
  const exact = await draw({ ...dying, iterations: done })
  assert.deepEqual(exact.body, body)
  const before = await draw({ ...dying, iterations: done - 1 })
  assert.deepEqual(before.headers, {
    'grayscott-iterations': String(done - 1),
    'grayscott-settled': 'false',
  })
})

test('feed and kill override those of the preset', async () => {
  const params = { size: 24, iterations: 60 }
  const maze = await draw({ ...params, preset: 'maze' })
  assert.deepEqual((await draw({ ...params, feed: 0.029, kill: 0.057 })).body, maze.body)
  assert.notDeepEqual((await draw({ ...params, preset: 'maze', feed: 0.05 })).body, maze.body)
})

test('each palette has its own colours and shows the same shades', async () => {
  const palettes = ['ember', 'lagoon', 'orchid', 'moss', 'grey']
  const pictures = await Promise.all(palettes.map((palette) => draw({ size: 16, iterations: 5, palette })))
  const decoded = pictures.map(({ body }) => decode(body))
  for (const { data } of decoded) assert.deepEqual(data, decoded[0]!.data)
  assert.equal(new Set(decoded.map(({ palette }) => JSON.stringify(palette))).size, palettes.length)
})

test('concentrations stay in bounds for every extreme of feed and kill', () => {
  for (const feed of [0, 0.1]) {
    for (const kill of [0.03, 0.1]) {
      let field = startField(16, 1)
      let next = emptyField(16)
      for (let i = 0; i < 2000; i++) {
        react(field, next, { feed, kill })
        ;[field, next] = [next, field]
      }
      assert.ok(
        field.u.every((u) => u >= 0 && u < 1.01),
        `u at ${feed}, ${kill}`,
      )
      assert.ok(
        field.v.every((v) => v >= 0 && v < 1.01),
        `v at ${feed}, ${kill}`,
      )
    }
  }
})

test('progress grows to 1, also when it ends early', async () => {
  for (const params of [
    { size: 64, iterations: 500 },
    { size: 64, iterations: 50_000, feed: 0.06, kill: 0.07 },
  ]) {
    const ctx = fakeContext()
    await draw(params, ctx)
    assert.ok(ctx.fractions.length > 1)
    assert.deepEqual(
      ctx.fractions,
      ctx.fractions.toSorted((a, b) => a - b),
    )
    assert.equal(ctx.fractions.at(-1), 1)
  }
})

test('features reflect the cost', () => {
  const params = readParams(grayscott, { size: 100, iterations: 30, preset: 'maze', kill: 0.06 })
  const features = grayscott.features?.(params, { bytes: 0, head: new Uint8Array() })
  assert.deepEqual(features, { cells: 10_000, cellSteps: 300_000, steps: 335_000, feed: 0.029, kill: 0.06 })
})

test('invalid or excessive input is rejected with the allowed values', () => {
  assert.equal(
    problems(grayscott, { size: 1000, iterations: 2001 }),
    'iterations: must be at most 2000 for a size of 1000',
  )
  assert.equal(problems(grayscott, { size: 1000, iterations: 2000 }), '')
  for (const size of [15, 1025, 20.5, NaN, '', 'big', true, null, [64]]) {
    assert.match(problems(grayscott, { size }), /^size: must be a whole number from 16 to 1024, not /)
  }
  assert.match(problems(grayscott, { iterations: 0 }), /a whole number from 1 to 50000/)
  assert.match(problems(grayscott, { feed: -0.1 }), /a number from 0 to 0.1/)
  assert.match(problems(grayscott, { kill: 0.2 }), /a number from 0.03 to 0.1/)
  assert.match(problems(grayscott, { seed: 2 ** 32 }), /a whole number from 0 to 4294967295/)
  assert.match(problems(grayscott, { preset: 'x' }), /one of coral, maze, spots, holes/)
  assert.match(problems(grayscott, { palette: 'constructor' }), /one of ember, lagoon/)
  assert.match(problems(grayscott, { sise: 1 }), /unknown: sise; allowed: size, iterations/)
})
