/** Simulates generations, in which grass grows and each animal eats, moves, reproduces or dies. */

import { scramble } from '../random/scramble.ts'
import type { Diet, Scenario } from './scenarios.ts'
import { type World, waterOf } from './worlds.ts'

export const free = 0
export const rabbit = 1
export const fox = 2
export const water = 3

/** Cells in rows of `width + 2`: a border of water avoids bounds checks. */
export interface Life {
  readonly world: World
  readonly scenario: Scenario
  /** `free`, `rabbit`, `fox` or `water`. */
  readonly cells: Uint8Array
  readonly energy: Uint8Array
  /** Generations until the grass is edible. */
  readonly bare: Uint8Array
  /** Marks animals that have moved in this generation, since they may move to cells not yet visited. */
  readonly turns: Uint8Array
  generation: number
  rabbits: number
  foxes: number
  /** Seed of this generation's random numbers. */
  chance: number
  readonly seed: number
}

export function startLife(world: World, scenario: Scenario, seed: number): Life {
  const { width, height } = world
  const cellCount = (width + 2) * (height + 2)
  const life: Life = {
    world,
    scenario,
    cells: new Uint8Array(cellCount).fill(water),
    energy: new Uint8Array(cellCount),
    bare: new Uint8Array(cellCount),
    turns: new Uint8Array(cellCount),
    generation: 0,
    rabbits: 0,
    foxes: 0,
    chance: 0,
    seed: scramble(seed),
  }
  const wet = waterOf(world)
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      if (wet[row * width + column] === 0) settle(life, (row + 1) * (width + 2) + column + 1)
    }
  }
  return life
}

/** Puts grass, and by chance an animal, on a cell of land. */
function settle(life: Life, at: number): void {
  const { scenario, cells, energy, bare } = life
  const chance = scramble(life.seed + at)
  const share = chance / 2 ** 32
  bare[at] = chance % scenario.regrowth
  cells[at] = free
  if (share < scenario.rabbits) {
    cells[at] = rabbit
    energy[at] = 1 + ((chance >>> 8) % scenario.rabbit.breedsAt)
    life.rabbits++
  } else if (share < scenario.rabbits + scenario.foxes) {
    cells[at] = fox
    energy[at] = 1 + ((chance >>> 8) % scenario.fox.breedsAt)
    life.foxes++
  }
}

/** Advances by one generation. */
export function advance(life: Life): void {
  const { cells, bare, turns } = life
  const { width, height } = life.world
  life.generation++
  life.chance = scramble(life.seed ^ life.generation)
  const turn = 1 + (life.generation & 1)
  for (let row = 1; row <= height; row++) {
    const last = row * (width + 2) + width
    for (let at = last - width + 1; at <= last; at++) {
      if (bare[at]! > 0) bare[at]!--
      const who = cells[at]!
      if (who !== rabbit && who !== fox) continue
      if (turns[at] === turn) continue
      turns[at] = turn
      if (who === rabbit) rabbitTurn(life, at)
      else foxTurn(life, at)
    }
  }
}

function rabbitTurn(life: Life, at: number): void {
  const { energy, bare, scenario } = life
  if (bare[at] === 0) {
    bare[at] = scenario.regrowth
    energy[at]! += scenario.rabbit.meal
  }
  energy[at]!--
  if (energy[at] === 0) {
    life.cells[at] = free
    life.rabbits--
    return
  }
  const target = neighbour(life, at, free)
  if (target !== at && move(life, at, target, scenario.rabbit)) life.rabbits++
}

function foxTurn(life: Life, at: number): void {
  const { energy, scenario } = life
  energy[at]!--
  if (energy[at] === 0) {
    life.cells[at] = free
    life.foxes--
    return
  }
  const prey = neighbour(life, at, rabbit)
  if (prey !== at) {
    life.rabbits--
    energy[at]! += scenario.fox.meal
  }
  const target = prey !== at ? prey : neighbour(life, at, free)
  if (target !== at && move(life, at, target, scenario.fox)) life.foxes++
}

/** Moves an animal; true if it leaves offspring behind. */
function move(life: Life, from: number, to: number, { breedsAt }: Diet): boolean {
  const { cells, energy, turns } = life
  const breeds = energy[from]! >= breedsAt
  const left = breeds ? energy[from]! >> 1 : 0
  cells[to] = cells[from]!
  energy[to] = energy[from]! - left
  turns[to] = turns[from]!
  energy[from] = left
  if (!breeds) cells[from] = free
  return breeds
}

/** The first of the four adjacent cells, from a random side, that contains `who`; else the cell itself. */
function neighbour(life: Life, at: number, who: number): number {
  const { cells } = life
  const row = life.world.width + 2
  const first = scramble(life.chance + at) & 3
  for (let side = first; side < first + 4; side++) {
    const step = (side & 1) === 0 ? row : 1
    const beside = (side & 2) === 0 ? at + step : at - step
    if (cells[beside] === who) return beside
  }
  return at
}
