/** By what HillClimbing's estimate compares two requests: their map, their strategy, their place and their side. */

import type { Question } from '../../estimate/estimator.ts'
import { read, sizeOf } from '../../estimate/reading.ts'
import type { Features } from '../../model/estimate.ts'

export interface Likeness {
  map: string
  strategy: string
  /** Where it is on each axis. */
  place: number[]
  /** How far from it another may be on each axis to be near. */
  reach: number[]
  side: number
}

/** Of the axes of all requests: later ones are not looked at. */
const mostAxes = 64

/**
 * Reads hillclimb as the document does. For other workloads the strategy is the first category, the map all other
 * categories, an axis each number, near what differs by at most a quarter of it, and the side the square root of
 * the size (reading.ts).
 */
export function likenessReader(): (question: Question) => Likeness {
  const axes = new Map<string, number>()
  const axisOf = (name: string) => {
    const known = axes.get(name)
    if (known !== undefined || axes.size === mostAxes) return known
    axes.set(name, axes.size)
    return axes.size - 1
  }
  return (question) => {
    const search = question.workload === 'hillclimb' ? searchOf(question) : undefined
    if (search) return search
    const reading = read(question.features)
    const [strategy = '', ...others] = reading.categories.values()
    const place: number[] = new Array(axes.size).fill(Number.NaN)
    for (const [name, value] of reading.numbers) {
      const axis = axisOf(name)
      if (axis !== undefined) place[axis] = value
    }
    const reach = place.map((value) => Math.abs(value) / 4)
    return { map: others.join(':'), strategy, place, reach, side: Math.sqrt(sizeOf(question, reading) ?? 1) }
  }
}

/** Whether the other request is on the same map, and on no axis farther than the question reaches. */
export function isNear(asked: Likeness, other: Likeness): boolean {
  if (asked.map !== other.map) return false
  const axes = Math.max(asked.place.length, other.place.length)
  for (let axis = 0; axis < axes; axis++) {
    const here = asked.place[axis] ?? Number.NaN
    const there = other.place[axis] ?? Number.NaN
    // Neither has this axis.
    if (Number.isNaN(here) && Number.isNaN(there)) continue
    if (!(Math.abs(here - there) <= asked.reach[axis]!)) return false
  }
  return true
}

/**
 * A search: its area and start, each axis compared by a quarter of the side of the area. An uploaded map is known by its
 * length and the hash of its beginning, which stand at the end of the key. The sides of a map where the parameters
 * leave them out are not told: it is then taken as square.
 */
function searchOf({ key, params, features }: Question): Likeness | undefined {
  const { strategy, isUpload, cells, mapCells } = features
  if (typeof strategy !== 'string' || !isCount(cells) || !isCount(mapCells)) return undefined
  const given = numbersOf(params)
  const width = given.width ?? (given.height ? mapCells / given.height : Math.sqrt(mapCells))
  const height = given.height ?? mapCells / width
  const { x0 = 0, y0 = 0, x1 = width - 1, y1 = height - 1 } = given
  const { xS = Math.floor((x0 + x1) / 2), yS = Math.floor((y0 + y1) / 2) } = given
  const across = (x1 - x0 + 1) / 4
  const down = (y1 - y0 + 1) / 4
  return {
    map: isUpload ? key.split(' ').slice(-2).join(' ') : `${given.map ?? 'usual'}:${width}×${height}`,
    strategy,
    place: [x0, x1, xS, y0, y1, yS],
    reach: [across, across, across, down, down, down],
    side: Math.sqrt(cells),
  }
}

/** No more than what can be squared. */
function isCount(value: Features[string] | undefined): value is number {
  return typeof value === 'number' && value >= 1 && value <= 1e150
}

const searchParameters = ['map', 'width', 'height', 'x0', 'y0', 'x1', 'y1', 'xS', 'yS'] as const

/** Those that are there and can be. */
function numbersOf(params: unknown): { [name in (typeof searchParameters)[number]]?: number } {
  const found: ReturnType<typeof numbersOf> = {}
  if (typeof params !== 'object' || params === null) return found
  for (const name of searchParameters) {
    const value = (params as Record<string, unknown>)[name]
    if (typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER) found[name] = value
  }
  return found
}
