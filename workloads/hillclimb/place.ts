/** The start and search area of a request, with defaults. */

import { Refusal } from 'plimsoll/workload'
import type { Area } from './grid.ts'

export interface Wanted {
  xS?: number | undefined
  yS?: number | undefined
  x0?: number | undefined
  y0?: number | undefined
  x1?: number | undefined
  y1?: number | undefined
}

export interface Place {
  area: Area
  start: { x: number; y: number }
}

/** Defaults: the whole map, from the middle of the area. Does not validate. */
export function placeOf(wanted: Wanted, width: number, height: number): Place {
  const { x0 = 0, y0 = 0, x1 = width - 1, y1 = height - 1 } = wanted
  const { xS = Math.floor((x0 + x1) / 2), yS = Math.floor((y0 + y1) / 2) } = wanted
  return { area: { x0, y0, x1, y1 }, start: { x: xS, y: yS } }
}

/** Rejects coordinates outside the map, an inverted search area, and a start outside the area. */
export function checkPlace(wanted: Wanted, width: number, height: number): void {
  for (const [side, names] of [
    [width, ['x0', 'x1', 'xS']],
    [height, ['y0', 'y1', 'yS']],
  ] as const) {
    for (const name of names) {
      const value = wanted[name]
      if (value !== undefined && value >= side)
        throw wrong(name, value, `must be on the map, from 0 to ${side - 1}`)
    }
  }
  const { area, start } = placeOf(wanted, width, height)
  if (area.x0 > area.x1) throw wrong('x0', area.x0, `must not be right of x1 = ${area.x1}`)
  if (area.y0 > area.y1) throw wrong('y0', area.y0, `must not be below y1 = ${area.y1}`)
  if (start.x < area.x0 || start.x > area.x1) {
    throw wrong('xS', start.x, `must be in the search area, from ${area.x0} to ${area.x1}`)
  }
  if (start.y < area.y0 || start.y > area.y1) {
    throw wrong('yS', start.y, `must be in the search area, from ${area.y0} to ${area.y1}`)
  }
}

function wrong(name: string, value: number, must: string): Refusal {
  return new Refusal(400, `${name} = ${value}: ${must}`)
}
