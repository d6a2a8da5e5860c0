/** Each strategy, compared with plain computations on small maps. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { encode } from 'fast-png'
import { fakeContext } from 'plimsoll/testing'
import hillclimb from '../hillclimb.ts'
import { fakeBody } from '../testing/body.ts'
import { readParams } from '../testing/params.ts'
import type { Summary } from './summary.ts'

// A fixed seed: every run checks the same cases.
fc.configureGlobal({ seed: 1 })

interface Small {
  width: number
  height: number
  heights: number[]
  reach: number
  grade: number
  start: [x: number, y: number]
}

/** Maps of up to 9 × 9; few distinct heights create plateaus and several peaks. */
const smallMap = fc
  .record({ width: fc.integer({ min: 1, max: 9 }), height: fc.integer({ min: 1, max: 9 }) })
  .chain(({ width, height }) =>
    fc.record({
      width: fc.constant(width),
      height: fc.constant(height),
      heights: fc
        .constantFrom(3, 1000, 65_535)
        .chain((max) => fc.array(fc.nat({ max }), { minLength: width * height, maxLength: width * height })),
      reach: fc.integer({ min: 1, max: 4 }),
      grade: fc.constantFrom(0.5, 1, 8),
      start: fc.tuple(fc.nat({ max: width - 1 }), fc.nat({ max: height - 1 })),
    }),
  )

async function climb(strategy: string, small: Small): Promise<Summary> {
  const { width, height, heights, reach, grade, start } = small
  const png = encode({ width, height, data: Uint16Array.from(heights), channels: 1, depth: 16 })
  const input = { strategy, reach, grade, xS: start[0], yS: start[1], output: 'json' }
  const ctx = fakeContext({ body: fakeBody(png) })
  return (await hillclimb.run(readParams(hillclimb, input), ctx)) as Summary
}

const gcd = (a: number, b: number): number => (b === 0 ? Math.abs(a) : gcd(b, a % b))

/** Cost of a move by definition; infinity if the move does not exist. */
function costOf({ width, height, heights, reach, grade }: Small, a: number, b: number): number {
  const dx = (b % width) - (a % width)
  const dy = Math.floor(b / width) - Math.floor(a / width)
  if (Math.max(Math.abs(dx), Math.abs(dy)) > reach || gcd(dx, dy) !== 1) return Infinity
  const length = Math.ceil(Math.round(65_536 / Math.max(width, height)) * Math.hypot(dx, dy))
  const climb = Math.abs(heights[b]! - heights[a]!)
  return Math.floor(length + (4 * climb ** 2) / grade / (3 * length * grade + climb))
}

/** Least cost from the start to each cell, by Bellman-Ford. */
function leastCosts(small: Small, cost: (a: number, b: number) => number): number[] {
  const cells = small.heights.length
  const least = new Array(cells).fill(Infinity)
  least[small.start[1] * small.width + small.start[0]] = 0
  for (let changed = true; changed; ) {
    changed = false
    for (let a = 0; a < cells; a++) {
      for (let b = 0; b < cells; b++) {
        if (a === b || !(least[a] + cost(a, b) < least[b])) continue
        least[b] = least[a] + cost(a, b)
        changed = true
      }
    }
  }
  return least
}

const cellOf = ({ width }: Small, [x, y]: readonly [number, number]) => y * width + x

test('the peak is the highest cell, among equals the nearest to the start', async () => {
  await fc.assert(
    fc.asyncProperty(smallMap, fc.constantFrom('BFS', 'DFS', 'ASTAR'), async (small, strategy) => {
      const { peak, start } = await climb(strategy, small)
      const far = ({ x, y }: { x: number; y: number }) => Math.hypot(x - start.x, y - start.y)
      assert.equal(peak.height, Math.max(...small.heights))
      for (const [cell, height] of small.heights.entries()) {
        const point = { x: cell % small.width, y: Math.floor(cell / small.width) }
        if (height === peak.height) assert.ok(far(point) >= far(peak))
      }
    }),
  )
})

test('every path leads from start to peak by valid moves, and its numbers are correct', async () => {
  await fc.assert(
    fc.asyncProperty(smallMap, fc.constantFrom('BFS', 'DFS', 'ASTAR'), async (small, strategy) => {
      const found = await climb(strategy, small)
      const cells = found.path.map((point) => cellOf(small, point))
      assert.deepEqual(found.path[0], small.start)
      assert.deepEqual(found.path.at(-1), [found.peak.x, found.peak.y])
      assert.equal(new Set(cells).size, cells.length)
      assert.equal(found.moves, cells.length - 1)
      let [cost, ascent] = [0, 0]
      for (let i = 1; i < cells.length; i++) {
        cost += costOf(small, cells[i - 1]!, cells[i]!)
        ascent += Math.max(0, small.heights[cells[i]!]! - small.heights[cells[i - 1]!]!)
      }
      const step = Math.round(65_536 / Math.max(small.width, small.height))
      assert.equal(found.effort, Math.round((cost / step) * 100) / 100)
      assert.equal(found.climb, ascent)
      assert.ok(found.visited >= cells.length && found.visited <= small.heights.length)
    }),
  )
})

test('A* finds the least effort', async () => {
  await fc.assert(
    fc.asyncProperty(smallMap, async (small) => {
      const { effort, peak } = await climb('ASTAR', small)
      const least = leastCosts(small, (a, b) => costOf(small, a, b))[cellOf(small, [peak.x, peak.y])]!
      const step = Math.round(65_536 / Math.max(small.width, small.height))
      assert.equal(effort, Math.round((least / step) * 100) / 100)
    }),
  )
})

test('BFS finds the fewest moves and stops at the peak', async () => {
  await fc.assert(
    fc.asyncProperty(smallMap, async (small) => {
      const { moves, visited, peak } = await climb('BFS', small)
      const fewest = leastCosts(small, (a, b) => (costOf(small, a, b) < Infinity ? 1 : Infinity))
      assert.equal(moves, fewest[cellOf(small, [peak.x, peak.y])])
      assert.ok(visited >= fewest.filter((count) => count < moves).length)
      assert.ok(visited <= fewest.filter((count) => count <= moves).length)
    }),
  )
})

test('DFS goes to the highest unvisited neighbour and backtracks', async () => {
  const distinct = smallMap.map((small) => ({
    ...small,
    heights: small.heights.map((height, cell) => Math.min(65_400, height - (height % 100)) + cell),
  }))
  await fc.assert(
    fc.asyncProperty(distinct, async (small) => {
      const top = small.heights.indexOf(Math.max(...small.heights))
      const seen = new Set<number>()
      const walk = (cell: number): number[] | undefined => {
        seen.add(cell)
        if (cell === top) return [cell]
        const next = [...small.heights.keys()]
          .filter((other) => other !== cell && costOf(small, cell, other) < Infinity)
          .sort((a, b) => small.heights[b]! - small.heights[a]!)
        for (const other of next) {
          const rest = seen.has(other) ? undefined : walk(other)
          if (rest) return [cell, ...rest]
        }
        return undefined
      }
      const expected = walk(cellOf(small, small.start))
      const found = await climb('DFS', small)
      assert.deepEqual(
        found.path.map((point) => cellOf(small, point)),
        expected,
      )
      assert.equal(found.visited, seen.size)
    }),
  )
})

test('the largest possible effort does not overflow', async () => {
  const [width, height] = [2048, 2]
  const heights: number[] = Array.from({ length: width * height }, (_, cell) => (cell % 2 ? 0 : 65_534))
  heights[width - 1] = 65_535
  const small: Small = { width, height, heights, reach: 1, grade: 0.5, start: [0, 0] }
  const { effort, moves } = await climb('ASTAR', small)
  assert.equal(moves, width - 1)
  assert.ok(effort > 30_000_000, `${effort}`)
})
