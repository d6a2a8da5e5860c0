/** Responses and pictures of hillclimb, and rejected input. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decode, encode } from 'fast-png'
import { fakeContext } from 'plimsoll/testing'
import { generatedMap } from './hillclimb/map.ts'
import type { Summary } from './hillclimb/summary.ts'
import hillclimb from './hillclimb.ts'
import { fakeBody } from './testing/body.ts'
import { problems, readParams } from './testing/params.ts'

// A fixed seed: every run checks the same cases.
fc.configureGlobal({ seed: 1 })

interface Picture {
  body: Uint8Array
  contentType: string
  headers: Record<string, string>
}

type Input = Record<string, unknown>

async function run(input: Input = {}, body: Uint8Array = new Uint8Array()): Promise<unknown> {
  return await hillclimb.run(readParams(hillclimb, input), fakeContext({ body: fakeBody(body) }))
}
const climb = async (input: Input, body?: Uint8Array) =>
  (await run({ output: 'json', ...input }, body)) as Summary
const draw = async (input: Input = {}, body?: Uint8Array) => (await run(input, body)) as Picture

/** The heights of a generated map. */
function heightsOf(map: number, width: number, height = width): Uint16Array {
  const heights = new Uint16Array(width * height)
  const { fillRow } = generatedMap(map, width, height)
  for (let y = 0; y < height; y++) fillRow(0, y, 1, heights.subarray(y * width, (y + 1) * width))
  return heights
}

const greyMap = (side: number, brightness: (x: number, y: number) => number) =>
  encode({
    width: side,
    height: side,
    data: Uint8Array.from({ length: side * side }, (_, i) => brightness(i % side, Math.floor(i / side))),
    channels: 1,
  })

test('every strategy finds the highest point of any search area', async () => {
  const whole = heightsOf(3, 60)
  const span = fc.tuple(fc.nat(59), fc.nat(59)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)
  const strategy = fc.constantFrom('BFS', 'DFS', 'ASTAR')
  await fc.assert(
    fc.asyncProperty(span, span, strategy, async ([x0, x1], [y0, y1], strategy) => {
      const found = await climb({ map: 3, width: 60, height: 60, x0, y0, x1, y1, strategy, reach: 2 })
      let highest = 0
      for (let y = y0; y <= y1; y++) {
        for (let x = x0; x <= x1; x++) highest = Math.max(highest, whole[y * 60 + x]!)
      }
      assert.equal(found.peak.height, highest)
      assert.equal(whole[found.peak.y * 60 + found.peak.x], highest)
      assert.deepEqual([found.start.x, found.start.y], [Math.floor((x0 + x1) / 2), Math.floor((y0 + y1) / 2)])
      for (const [x, y] of found.path) assert.ok(x >= x0 && x <= x1 && y >= y0 && y <= y1)
    }),
    { numRuns: 60 },
  )
})

test('strategies visit different cells', async () => {
  const where = { map: 2, width: 200, height: 200, xS: 20, yS: 160 }
  const [bfs, dfs, astar] = await Promise.all(
    ['BFS', 'DFS', 'A*'].map((strategy) => climb({ ...where, strategy })),
  )
  assert.ok(bfs!.moves <= astar!.moves && astar!.moves < dfs!.moves)
  assert.ok(astar!.effort <= bfs!.effort && astar!.effort <= dfs!.effort)
  assert.equal(new Set([bfs!.visited, dfs!.visited, astar!.visited]).size, 3)
})

test('a long path is reduced to 1,000 points, including its ends', async () => {
  const found = await climb({ map: 2, strategy: 'DFS', width: 300, height: 300, xS: 5, yS: 5 })
  assert.ok(found.moves > 2000)
  assert.equal(found.path.length, 1000)
  assert.deepEqual(found.path[0], [5, 5])
  assert.deepEqual(found.path.at(-1), [found.peak.x, found.peak.y])
})

test('the default is a map of 512 × 512, the same each time', async () => {
  const { body, contentType, headers } = await draw()
  assert.equal(contentType, 'image/png')
  const { width, height } = decode(body)
  assert.deepEqual([width, height], [512, 512])
  const { peak, moves, effort, visited } = await climb({})
  assert.deepEqual(headers, {
    'hillclimb-peak': `${peak.x},${peak.y}`,
    'hillclimb-height': String(peak.height),
    'hillclimb-moves': String(moves),
    'hillclimb-effort': String(effort),
    'hillclimb-visited': String(visited),
  })
  assert.deepEqual((await draw()).body, body)
})

test('the picture shows the path from a yellow start to a white peak', async () => {
  const where = { map: 4, width: 100, height: 80, strategy: 'BFS', xS: 10, yS: 70 }
  const { path, peak, visited } = await climb(where)
  const { data, palette } = decode((await draw(where)).body)
  const colour = (x: number, y: number) => palette![data[y * 100 + x]!]!
  assert.deepEqual(colour(10, 70), [0xff, 0xe1, 0x4d])
  assert.deepEqual(colour(peak.x, peak.y), [255, 255, 255])
  for (const [x, y] of path) assert.ok(data[y * 100 + x]! >= 240, `${x}, ${y}`)
  // The discs and the path cover some visited cells.
  const tinted = data.filter((ink) => ink >= 80 && ink < 160).length
  assert.ok(tinted <= visited && tinted > visited / 2)
})

test('land outside the search area is dark, and a map wider than 1,024 is scaled down', async () => {
  const { data } = decode((await draw({ width: 50, height: 50, x0: 20, y0: 10, x1: 39, y1: 29 })).body)
  for (let y = 0; y < 50; y++) {
    for (let x = 0; x < 50; x++) {
      const outside = x < 20 || x > 39 || y < 10 || y > 29
      const ink = data[y * 50 + x]!
      if (ink < 240) assert.equal(ink >= 160, outside, `${x}, ${y}`)
    }
  }
  const { width, height } = decode((await draw({ width: 2048, height: 33, strategy: 'BFS' })).body)
  assert.deepEqual([width, height], [1024, 17])
})

test('an uploaded picture is a height map: bright is high', async () => {
  const png = greyMap(40, (x, y) => 200 - Math.abs(x - 31) - Math.abs(y - 7))
  const found = await climb({ xS: 0, yS: 39, strategy: 'DFS' }, png)
  assert.deepEqual(found.peak, { x: 31, y: 7, height: 200 * 257 })
  assert.equal(found.moves, 32)
  assert.deepEqual(decode((await draw({ width: 40 }, png)).body).width, 40)
})

test('a flat map is its own peak', async () => {
  const found = await climb(
    {},
    greyMap(20, () => 9),
  )
  assert.equal(found.moves, 0)
  assert.deepEqual(found.path, [[9, 9]])
  assert.equal(
    decode(
      (
        await draw(
          {},
          greyMap(1, () => 0),
        )
      ).body,
    ).width,
    1,
  )
})

test('parameters outside the map are rejected with 400 and the allowed values', async () => {
  const png = greyMap(20, (x) => x)
  const wrong: [string, Input, Uint8Array?][] = [
    ['xS = 512: must be on the map, from 0 to 511', { xS: 512 }],
    ['y1 = 30: must be on the map, from 0 to 29', { width: 30, height: 30, y1: 30 }],
    ['x0 = 9: must not be right of x1 = 8', { x0: 9, x1: 8 }],
    ['y0 = 9: must not be below y1 = 8', { y0: 9, y1: 8 }],
    ['xS = 5: must be in the search area, from 6 to 511', { xS: 5, x0: 6 }],
    ['yS = 7: must be in the search area, from 0 to 6', { yS: 7, y1: 6 }],
    ['xS = 20: must be on the map, from 0 to 19', { xS: 20 }, png],
    ['map = 3: must be left out because an uploaded PNG is the map', { map: 3 }, png],
    ['height = 21: must be left out, or 20 as in the PNG', { width: 20, height: 21 }, png],
  ]
  for (const [message, input, body] of wrong) {
    await assert.rejects(run(input, body), { name: 'Refusal', status: 400, message })
  }
  await assert.rejects(run({}, Buffer.from('hills')), { status: 415 })
})

test('progress grows to 1 for every request', async () => {
  const png = greyMap(50, (x, y) => x ^ y)
  for (const output of ['png', 'json']) {
    for (const strategy of ['BFS', 'DFS', 'ASTAR']) {
      for (const body of [Buffer.alloc(0), png]) {
        const ctx = fakeContext({ body: fakeBody(body) })
        const size = body.length > 0 ? {} : { width: 200, height: 150 }
        await hillclimb.run(readParams(hillclimb, { strategy, output, ...size }), ctx)
        assert.equal(ctx.fractions.at(-1), 1)
        assert.deepEqual(
          ctx.fractions,
          ctx.fractions.toSorted((a, b) => a - b),
        )
      }
    }
  }
})

test('features include the size and the approximate distance of the peak, and never fail', async () => {
  const features = (input: Input, body: Uint8Array = new Uint8Array()) =>
    hillclimb.features!(readParams(hillclimb, input), { bytes: body.length, head: body.subarray(0, 65_536) })
  const { cells, mapCells, strategy } = features({ width: 300, height: 200, x0: 100, y1: 99 })
  assert.deepEqual([cells, mapCells, strategy], [20_000, 60_000, 'ASTAR'])
  let error = 0
  for (let map = 0; map < 20; map++) {
    const { start, peak } = await climb({ map, width: 128, height: 128, xS: 10, yS: 100, strategy: 'BFS' })
    const guess = Number(features({ map, width: 128, height: 128, xS: 10, yS: 100 }).distance)
    error += Math.abs(guess - Math.hypot(peak.x - start.x, peak.y - start.y)) / 20
  }
  assert.ok(error < 25, `wrong by ${error} cells on average`)
  const png = greyMap(30, (x) => x)
  assert.equal(features({}, png).mapCells, 900)
  for (const body of [Buffer.from('hills'), png.subarray(0, 20), Buffer.alloc(100)]) features({}, body)
  features({ x0: 9, x1: 3, xS: 2047 })
  features({ width: 1, height: 1, x1: 2000 })
})

test('several spellings of A* are accepted', () => {
  for (const strategy of ['ASTAR', 'astar', 'A*', 'a*', 'A-Star', 'a_star']) {
    assert.equal(readParams(hillclimb, { strategy }).strategy, 'ASTAR')
  }
  assert.equal(readParams(hillclimb, { strategy: 'bfs' }).strategy, 'BFS')
})

test('invalid parameters are rejected with the allowed values', () => {
  const coordinates = ['xS', 'yS', 'x0', 'y0', 'x1', 'y1'].map((name) => [
    name,
    'a whole number from 0 to 2047',
  ])
  const allowed = Object.fromEntries([
    ...coordinates,
    ['map', 'a whole number from 0 to 4294967295'],
    ['width', 'a whole number from 1 to 2048'],
    ['height', 'a whole number from 1 to 2048'],
    ['reach', 'a whole number from 1 to 8'],
    ['grade', 'a number from 0.5 to 8'],
    ['output', 'one of png, json'],
  ]) as Record<string, string>
  for (const [name, range] of Object.entries(allowed)) {
    for (const value of ['', ' 1', 'abc', 'NaN', true, null, [], {}, -1, 1e13, NaN, Infinity]) {
      const shown = typeof value === 'number' ? value : JSON.stringify(value)
      assert.equal(problems(hillclimb, { [name]: value }), `${name}: must be ${range}, not ${shown}`)
    }
  }
  assert.equal(
    problems(hillclimb, { strategy: 'IDA' }),
    'strategy: must be one of BFS, DFS, ASTAR, not "IDA"',
  )
  assert.equal(problems(hillclimb, { strategy: 1 }), 'strategy: must be one of BFS, DFS, ASTAR, not 1')
  assert.match(problems(hillclimb, { start: 1 }), /^unknown: start; allowed: map, width, height, xS, yS, x0/)
})
