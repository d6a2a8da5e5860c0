/** Draws a map in relief with the visited cells, the path, the start and the peak. */

import { Canvas } from '../drawing/canvas.ts'
import { type Grid, pointOf } from './grid.ts'
import { inks, landInks, levels, lights, palette, pathInks } from './inks.ts'
import type { HeightMap } from './map.ts'
import type { Found } from './search.ts'

/** A larger map is scaled down, with one pixel for several cells. */
const longestSide = 1024
/** Slopes are measured over several pixels, because uploaded maps often have coarse heights. */
const slopeSpan = 4
/** Upper bound of the rise to two neighbours. */
const steepest = 2 ** 17
/** A path longer than this multiple of the picture's perimeter is drawn thin. */
const mostRounds = 2

export function draw(
  map: HeightMap,
  grid: Grid,
  found: Found,
  progress: (fraction: number) => void,
): Uint8Array {
  const cells = Math.ceil(Math.max(map.width, map.height) / longestSide)
  const canvas = new Canvas(Math.ceil(map.width / cells), Math.ceil(map.height / cells))
  drawLand(canvas, map, grid, cells, found.visited)
  progress(0.3)
  drawFrame(canvas, map, grid, cells)
  drawPath(canvas, grid, found.path, cells)
  progress(0.4)
  const png = canvas.png(palette)
  progress(1)
  return png
}

/** Lit from the upper left. A pixel shows the upper left one of its cells. */
function drawLand(canvas: Canvas, map: HeightMap, grid: Grid, cells: number, visited: Uint8Array): void {
  const { area, margin, stride } = grid
  const { width, height, pixels } = canvas
  const heights = new Uint16Array(width * height)
  for (let y = 0; y < height; y++) {
    map.fillRow(0, y * cells, cells, heights.subarray(y * width, (y + 1) * width))
  }
  const { levelInks, lightInks } = shadesOf(heights, Math.max(width, height))
  for (let y = 0; y < height; y++) {
    const inRows = y * cells >= area.y0 && y * cells <= area.y1
    const row = (y * cells - area.y0 + margin) * stride + margin - area.x0
    const above = Math.min(y, slopeSpan) * width
    for (let x = 0; x < width; x++) {
      const pixel = y * width + x
      const here = heights[pixel]!
      const rise = 2 * here - heights[pixel - above]! - heights[pixel - Math.min(x, slopeSpan)]!
      const column = x * cells
      const inside = inRows && column >= area.x0 && column <= area.x1
      const land = !inside ? landInks.outside : visited[row + column] ? landInks.visited : landInks.plain
      pixels[pixel] = land + levelInks[here >> 4]! + lightInks[(rise + steepest) >> 6]!
    }
  }
}

/** Parts of a palette index: by height ÷ 16, and by (rise + `steepest`) ÷ 64. */
function shadesOf(heights: Uint16Array, side: number): { levelInks: Uint8Array; lightInks: Uint8Array } {
  const [low, high] = range(heights)
  const toLevel = levels / (high - low + 1)
  // Slopes look the same for every map size and height range.
  const toLight = ((side / (high - low + 1)) * 0.28) / slopeSpan
  const levelInks = Uint8Array.from({ length: 2 ** 12 }, (_, i) => {
    const level = Math.floor((16 * i + 8 - low) * toLevel)
    return Math.max(0, Math.min(levels - 1, level)) * lights
  })
  const lightInks = Uint8Array.from({ length: 2 ** 12 }, (_, i) => {
    const light = Math.round((lights >> 1) + (64 * i + 32 - steepest) * toLight)
    return Math.max(0, Math.min(lights - 1, light))
  })
  return { levelInks, lightInks }
}

function range(heights: Uint16Array): [low: number, high: number] {
  let low = 65_535
  let high = 0
  for (let i = 0; i < heights.length; i++) {
    const here = heights[i]!
    if (here < low) low = here
    if (here > high) high = here
  }
  return [low, high]
}

function drawFrame(canvas: Canvas, map: HeightMap, { area, width, height }: Grid, cells: number): void {
  if (width === map.width && height === map.height) return
  const [left, right] = [Math.floor(area.x0 / cells), Math.floor(area.x1 / cells)]
  const [top, bottom] = [Math.floor(area.y0 / cells), Math.floor(area.y1 / cells)]
  canvas.line(left, top, right, top, inks.frame)
  canvas.line(left, bottom, right, bottom, inks.frame)
  canvas.line(left, top, left, bottom, inks.frame)
  canvas.line(right, top, right, bottom, inks.frame)
}

function drawPath(canvas: Canvas, grid: Grid, path: Int32Array, cells: number): void {
  const { width, height } = canvas
  const thick = Math.min(width, height) >= 160 && path.length <= mostRounds * 2 * (width + height)
  if (thick) drawLines(canvas, grid, path, cells, () => inks.casing, 2)
  const along = pathInks.count / path.length
  drawLines(canvas, grid, path, cells, (i) => pathInks.first + Math.floor(i * along), thick ? 1 : 0)
  const radius = Math.max(1, Math.round(Math.min(width, height) / 90))
  for (const end of ['start', 'peak'] as const) {
    const { x, y } = pointOf(grid, end === 'start' ? path[0]! : path.at(-1)!)
    canvas.disc(Math.floor(x / cells), Math.floor(y / cells), radius + 1, inks.casing)
    canvas.disc(Math.floor(x / cells), Math.floor(y / cells), radius, inks[end])
  }
}

function drawLines(
  canvas: Canvas,
  grid: Grid,
  path: Int32Array,
  cells: number,
  inkOf: (move: number) => number,
  radius: number,
): void {
  let from = pointOf(grid, path[0]!)
  for (let i = 1; i < path.length; i++) {
    const to = pointOf(grid, path[i]!)
    const [x, y] = [Math.floor(from.x / cells), Math.floor(from.y / cells)]
    canvas.line(x, y, Math.floor(to.x / cells), Math.floor(to.y / cells), inkOf(i), radius)
    from = to
  }
}
