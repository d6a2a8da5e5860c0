/** Hillclimb: finds a path to the highest point of a height map. The cost depends on the terrain. */

import { type BodyFacts, defineWorkload, Refusal, reply } from 'plimsoll/workload'
import { z } from 'zod'
import { astar } from './hillclimb/astar.ts'
import { bfs } from './hillclimb/bfs.ts'
import { dfs } from './hillclimb/dfs.ts'
import { cellAt, gridOf, peakOf } from './hillclimb/grid.ts'
import { distanceGuess } from './hillclimb/guess.ts'
import { generatedMap, type HeightMap } from './hillclimb/map.ts'
import { movesOf, stepCost } from './hillclimb/moves.ts'
import { draw } from './hillclimb/picture.ts'
import { checkPlace, placeOf } from './hillclimb/place.ts'
import type { Quest } from './hillclimb/search.ts'
import { type Summary, summaryOf } from './hillclimb/summary.ts'
import { maxSide, readBody, uploadedMap } from './hillclimb/upload.ts'
import { readHeader } from './images/header.ts'
import { choice, parameters, real, whole } from './params/fields.ts'

const strategies = { BFS: bfs, DFS: dfs, ASTAR: astar }
/** Defaults of a generated map. */
const usual = { map: 3, side: 512 }

const side = whole({ min: 1, max: maxSide }).optional()
const coordinate = whole({ min: 0, max: maxSide - 1 }).optional()

const params = parameters({
  map: whole({ min: 0, max: 2 ** 32 - 1 })
    .optional()
    .describe(`Number of the generated landscape, by default ${usual.map}; not allowed with an uploaded PNG`),
  width: side.describe(
    `Width of the map in cells, by default ${usual.side} or the width of the uploaded PNG`,
  ),
  height: side.describe(
    `Height of the map in cells, by default ${usual.side} or the height of the uploaded PNG`,
  ),
  xS: coordinate.describe('Column of the start; by default the middle of the search area'),
  yS: coordinate.describe('Row of the start; by default the middle of the search area'),
  x0: coordinate.describe('First column of the search area; by default 0'),
  y0: coordinate.describe('First row of the search area; by default 0'),
  x1: coordinate.describe('Last column of the search area; by default the last of the map'),
  y1: coordinate.describe('Last row of the search area; by default the last of the map'),
  strategy: z
    .preprocess(canonical, choice(['BFS', 'DFS', 'ASTAR']))
    .default('ASTAR')
    .describe('BFS: fewest moves. DFS: always to the highest unvisited neighbour. ASTAR: least effort'),
  reach: whole({ min: 1, max: 8 }).default(1).describe('The longest move, in cells along each axis'),
  grade: real({ min: 0.5, max: 8 })
    .default(1)
    .describe(
      'The slope that doubles the effort of a move; 1 is the full height range over the longer side of the map',
    ),
  output: choice(['png', 'json']).default('png').describe('A picture, or numbers and the path'),
})

type Params = z.output<typeof params>

export default defineWorkload({
  name: 'hillclimb',
  description:
    'Finds a path to the highest point of a height map, generated or uploaded as PNG, with BFS, DFS or A*',
  deterministic: true,
  params,
  meter: { packages: ['fast-png', 'fflate', 'iobuffer'] },

  features(params, body) {
    const { width, height } = sizeOf(params, body)
    const { area, start } = placeOf(params, width, height)
    const [columns, rows] = [Math.max(1, area.x1 - area.x0 + 1), Math.max(1, area.y1 - area.y0 + 1)]
    const isUpload = body.bytes > 0
    return {
      strategy: params.strategy,
      output: params.output,
      isUpload,
      cells: columns * rows,
      mapCells: width * height,
      distance: isUpload
        ? Math.max(columns, rows) / 2
        : distanceGuess(params.map ?? usual.map, width, height, area, start),
      reach: params.reach,
      grade: params.grade,
    }
  },

  async run(params, ctx) {
    const map = mapOf(params, await readBody(ctx.body))
    checkPlace(params, map.width, map.height)
    const quest = questOf(map, params, ctx.progress)
    const found = strategies[params.strategy](quest)
    const summary = summaryOf(quest, found)
    ctx.progress(0.8)
    const { strategy, reach, grade, output } = params
    if (output === 'json') {
      ctx.progress(1)
      return {
        strategy,
        reach,
        grade,
        width: map.width,
        height: map.height,
        area: quest.grid.area,
        ...summary,
      }
    }
    const png = draw(map, quest.grid, found, (fraction) => ctx.progress(0.8 + 0.2 * fraction))
    return reply(png, { contentType: 'image/png', headers: headersOf(summary) })
  },
})

/** Also accepts lower case and the names A* and A-star. */
function canonical(strategy: unknown): unknown {
  if (typeof strategy !== 'string') return strategy
  const upper = strategy.toUpperCase()
  return ['A*', 'A-STAR', 'A_STAR', 'A STAR'].includes(upper) ? 'ASTAR' : upper
}

function mapOf(params: Params, body: Uint8Array): HeightMap {
  if (body.length === 0) {
    const { map = usual.map, width = usual.side, height = usual.side } = params
    return generatedMap(map, width, height)
  }
  if (params.map !== undefined) {
    throw new Refusal(400, `map = ${params.map}: must be left out because an uploaded PNG is the map`)
  }
  const uploaded = uploadedMap(body)
  for (const name of ['width', 'height'] as const) {
    if ((params[name] ?? uploaded[name]) !== uploaded[name]) {
      throw new Refusal(
        400,
        `${name} = ${params[name]}: must be left out, or ${uploaded[name]} as in the PNG`,
      )
    }
  }
  return uploaded
}

/** From the first bytes of the body, if they are a PNG header. */
function sizeOf(params: Params, body: BodyFacts): { width: number; height: number } {
  const header = body.bytes > 0 ? readHeader(body.head) : undefined
  if (header?.format === 'png' && header.width > 0 && header.height > 0) {
    return { width: Math.min(header.width, maxSide), height: Math.min(header.height, maxSide) }
  }
  return { width: params.width ?? usual.side, height: params.height ?? usual.side }
}

function questOf(map: HeightMap, params: Params, progress: (fraction: number) => void): Quest {
  const { area, start: from } = placeOf(params, map.width, map.height)
  const grid = gridOf(area, params.reach, (y, row) => {
    map.fillRow(area.x0, y, 1, row)
    if (y % 32 === 0) progress((0.1 * (y - area.y0)) / (area.y1 - area.y0 + 1))
  })
  const start = cellAt(grid, from.x, from.y)
  const step = stepCost(map.width, map.height)
  return {
    grid,
    moves: movesOf(params.reach, grid.stride, step, params.grade),
    start,
    peak: peakOf(grid, start),
    step,
    progress: (fraction) => progress(0.1 + 0.7 * fraction),
  }
}

function headersOf({ peak, moves, effort, visited }: Summary): Record<string, string> {
  return {
    'hillclimb-peak': `${peak.x},${peak.y}`,
    'hillclimb-height': String(peak.height),
    'hillclimb-moves': String(moves),
    'hillclimb-effort': String(effort),
    'hillclimb-visited': String(visited),
  }
}
