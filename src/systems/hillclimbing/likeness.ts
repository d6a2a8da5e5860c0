/** What HillClimbing's estimate compares: map, strategy, place and side. */

import type { Question } from '../../estimate/estimator.ts'
import { read, sizeOf } from '../../estimate/reading.ts'
import type { Features } from '../../model/estimate.ts'

export interface Likeness {
  map: string
  strategy: string
  /** Its position on each axis. */
  place: number[]
  /** The largest distance on each axis at which another request is near. */
  reach: number[]
  side: number
}

/** The number of axes of all requests together; further ones are ignored. */
const mostAxes = 64

/**
 * Reads hillclimb as in the document. For other workloads the first category is the strategy, the other categories are
 * the map, and each number is an axis, on which a difference of up to a quarter is near; the side is the square root
 * of the size (reading.ts).
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

/** Whether the other request is on the same map and near on each axis. */
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
 * A search: its area and start; on each axis a quarter of the area's side is near. An uploaded map is identified by its
 * length and the hash of its beginning, which end the key. A map whose sides are not among the parameters is assumed
 * to be square.
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

/** Small enough to be squared. */
function isCount(value: Features[string] | undefined): value is number {
  return typeof value === 'number' && value >= 1 && value <= 1e150
}

const searchParameters = ['map', 'width', 'height', 'x0', 'y0', 'x1', 'y1', 'xS', 'yS'] as const

/** The parameters that are present and valid. */
function numbersOf(params: unknown): { [name in (typeof searchParameters)[number]]?: number } {
  const found: ReturnType<typeof numbersOf> = {}
  if (typeof params !== 'object' || params === null) return found
  for (const name of searchParameters) {
    const value = (params as Record<string, unknown>)[name]
    if (typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER) found[name] = value
  }
  return found
}
