/** The state of a war: a field of cells, two nests, and all insects. */

import { kinds } from './kinds.ts'
import { Random } from './random.ts'

/** Border around the field, as wide as the farthest sight, to avoid bounds checks. */
export const margin = 3
/** Grid values: an empty cell, and the border. Other values are 1 + the insect's number. */
export const empty = 0
export const wall = 65_535
/** Cells of the field per insect. */
const cellsPerInsect = 5

export interface Nest {
  x: number
  y: number
  health: number
  readonly fullHealth: number
  /** Distance within which insects hatch and heal. */
  readonly radius: number
}

export interface Army {
  /** Insects have the numbers `first` to `first` + `size` - 1; a hatched insect reuses the number of a fallen one. */
  readonly first: number
  readonly size: number
  readonly nest: Nest
  alive: number
  /** Eggs ready to hatch. */
  eggs: number
  fallen: number
  hatched: number
}

export interface War {
  readonly random: Random
  /** Size of the field. */
  readonly width: number
  readonly height: number
  /** Distance from a cell of the grid to the one below. */
  readonly stride: number
  readonly grid: Uint16Array
  /** Position by insect; the first cell of the field is (margin, margin). */
  readonly x: Uint16Array
  readonly y: Uint16Array
  /** 0 if fallen. */
  readonly health: Int16Array
  readonly kind: Uint8Array
  /** Row along which the insect marches. */
  readonly lane: Uint16Array
  readonly kills: Uint16Array
  readonly bornInRound: Uint16Array
  readonly armies: readonly [Army, Army]
  /** By cell: number of insects that fell there, at most 255. */
  readonly graves: Uint8Array
  round: number
}

export function fieldOf(insects: number): { width: number; height: number } {
  const width = Math.max(24, Math.ceil(Math.sqrt(insects * cellsPerInsect * 1.5)))
  return { width, height: Math.ceil((width * 2) / 3) }
}

export function prepareWar(size1: number, size2: number, seed: number): War {
  const insects = size1 + size2
  const { width, height } = fieldOf(insects)
  const stride = width + 2 * margin
  const cells = stride * (height + 2 * margin)
  const grid = new Uint16Array(cells).fill(wall)
  for (let y = margin; y < height + margin; y++)
    grid.fill(empty, y * stride + margin, y * stride + margin + width)
  const middle = margin + (height >> 1)
  const war: War = {
    random: new Random(seed),
    width,
    height,
    stride,
    grid,
    x: new Uint16Array(insects),
    y: new Uint16Array(insects),
    health: new Int16Array(insects),
    kind: new Uint8Array(insects),
    lane: new Uint16Array(insects),
    kills: new Uint16Array(insects),
    bornInRound: new Uint16Array(insects),
    armies: [
      armyOf(0, size1, margin + (width >> 3), middle),
      armyOf(size1, size2, margin + width - 1 - (width >> 3), middle),
    ],
    graves: new Uint8Array(cells),
    round: 0,
  }
  // Each army starts in its third of the field.
  const third = Math.floor(width / 3)
  for (const [army, left] of [
    [war.armies[0], 0],
    [war.armies[1], width - third],
  ] as const) {
    for (let insect = army.first; insect < army.first + army.size; insect++) {
      let cell = 0
      do {
        cell = (margin + war.random.below(height)) * stride + margin + left + war.random.below(third)
      } while (grid[cell] !== empty)
      settle(war, army, insect, cell)
    }
  }
  return war
}

function armyOf(first: number, size: number, x: number, y: number): Army {
  const fullHealth = 100 + 20 * size
  // Larger armies need more room; the nest stays within its eighth of the field.
  const radius = 3 + Math.floor(Math.sqrt(size) / 3)
  return {
    first,
    size,
    nest: { x, y, health: fullHealth, fullHealth, radius },
    alive: 0,
    eggs: 0,
    fallen: 0,
    hatched: 0,
  }
}

/** Places a new insect of a random kind in an empty cell. */
export function settle(war: War, army: Army, insect: number, cell: number): void {
  const { random, stride } = war
  const y = Math.floor(cell / stride)
  war.x[insect] = cell - y * stride
  war.y[insect] = y
  const kind = kindBy(random.below(100))
  war.kind[insect] = kind
  war.health[insect] = kinds[kind]!.health
  war.lane[insect] = margin + random.below(war.height)
  war.kills[insect] = 0
  war.bornInRound[insect] = war.round
  war.grid[cell] = insect + 1
  army.alive++
}

function kindBy(percent: number): number {
  let left = percent
  return kinds.findIndex(({ share }) => {
    left -= share
    return left < 0
  })
}
