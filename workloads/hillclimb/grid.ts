/** The search area with a margin around it, so that moves need no bounds checks. */

/** A rectangle of the map, corners included. */
export interface Area {
  x0: number
  y0: number
  x1: number
  y1: number
}

export interface Grid {
  readonly area: Area
  readonly width: number
  readonly height: number
  /** Width of the margin, and maximum length of a move. */
  readonly margin: number
  /** Distance from a cell to the one below. */
  readonly stride: number
  /** By cell, including the margin. */
  readonly heights: Uint16Array
}

/** `fillRow` writes the heights of the area's row at `y` of the map. */
export function gridOf(area: Area, margin: number, fillRow: (y: number, row: Uint16Array) => void): Grid {
  const width = area.x1 - area.x0 + 1
  const height = area.y1 - area.y0 + 1
  const stride = width + 2 * margin
  const heights = new Uint16Array(stride * (height + 2 * margin))
  const grid = { area, width, height, margin, stride, heights }
  for (let y = area.y0; y <= area.y1; y++) {
    const first = cellAt(grid, area.x0, y)
    fillRow(y, heights.subarray(first, first + width))
  }
  return grid
}

/** The cell of a point of the map. */
export function cellAt({ area, margin, stride }: Grid, x: number, y: number): number {
  return (y - area.y0 + margin) * stride + (x - area.x0 + margin)
}

export function pointOf({ area, margin, stride }: Grid, cell: number): { x: number; y: number } {
  const row = Math.floor(cell / stride)
  return { x: cell - row * stride - margin + area.x0, y: row - margin + area.y0 }
}

/** One mark per cell, with `wall` in the margin. */
export function marksOf({ width, height, margin, stride }: Grid, wall: number): Uint8Array {
  const marks = new Uint8Array(stride * (height + 2 * margin))
  marks.subarray(0, margin * stride).fill(wall)
  marks.subarray((margin + height) * stride).fill(wall)
  for (let row = margin; row < margin + height; row++) {
    for (let column = 0; column < margin; column++) {
      marks[row * stride + column] = wall
      marks[row * stride + margin + width + column] = wall
    }
  }
  return marks
}

/** The highest cell of the area; among equals the nearest to `start`, then the first in reading order. */
export function peakOf(grid: Grid, start: number): number {
  const { width, height, margin, stride, heights } = grid
  const startRow = Math.floor(start / stride)
  let peak = start
  let best = heights[start]!
  let nearest = 0
  for (let row = margin; row < margin + height; row++) {
    const first = row * stride + margin
    /** The cell of this row in the start's column. */
    const below = start - startRow * stride + row * stride
    for (let cell = first; cell < first + width; cell++) {
      const here = heights[cell]!
      if (here < best) continue
      const distance = (cell - below) * (cell - below) + (row - startRow) * (row - startRow)
      if (here === best && distance >= nearest) continue
      peak = cell
      best = here
      nearest = distance
    }
  }
  return peak
}
