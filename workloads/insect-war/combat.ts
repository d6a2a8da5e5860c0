/** Bites, healing, damage to nests, and hatching. */

import type { Heroes } from './heroes.ts'
import { kinds } from './kinds.ts'
import { type Army, empty, settle, type War } from './war.ts'

/** Distance in cells from which an insect attacks the enemy's nest. */
const attackCells = 2
const healthPerRound = 4
/** Eggs per round of a nest without an army, times the square root of all insects, which is the length of the front. */
const hatchRate = 0.3
/** Health that a nest regains each round, per insect of its army. */
const nestRepair = 0.02

export interface Combat {
  bite(insect: number, victim: number, enemy: Army): void
  rest(insect: number, own: Army, enemy: Army, fullHealth: number): void
  hatch(army: Army): void
}

export function combat(war: War, heroes: Heroes): Combat {
  const { random, stride, grid, x, y, health, kind, kills, armies, graves } = war
  const [one, two] = armies
  const insects = one.size + two.size

  function bite(insect: number, victim: number, enemy: Army): void {
    const { bite } = kinds[kind[insect]!]!
    const strength = (bite >> 1) + random.below(bite + 1) - kinds[kind[victim]!]!.armour
    const left = health[victim]! - Math.max(1, strength)
    if (left > 0) {
      health[victim] = left
      return
    }
    const cell = y[victim]! * stride + x[victim]!
    health[victim] = 0
    grid[cell] = empty
    if (graves[cell]! < 255) graves[cell]!++
    enemy.alive--
    enemy.fallen++
    kills[insect]!++
    heroes.consider(victim)
  }

  /** Without an enemy in reach, an insect heals at its nest or attacks the enemy's nest. */
  function rest(insect: number, own: Army, enemy: Army, fullHealth: number): void {
    if (isNear(insect, own, own.nest.radius)) {
      health[insect] = Math.min(fullHealth, health[insect]! + healthPerRound)
    } else if (isNear(insect, enemy, attackCells)) {
      enemy.nest.health = Math.max(0, enemy.nest.health - kinds[kind[insect]!]!.bite)
    }
  }

  function isNear(insect: number, { nest }: Army, cells: number): boolean {
    return Math.abs(nest.x - x[insect]!) <= cells && Math.abs(nest.y - y[insect]!) <= cells
  }

  function hatch(army: Army): void {
    const { nest, first, size } = army
    if (nest.health === 0) return
    nest.health = Math.min(nest.fullHealth, nest.health + nestRepair * size)
    army.eggs = Math.min(
      size - army.alive,
      army.eggs + hatchRate * Math.sqrt(insects) * (1 - army.alive / size),
    )
    let hatchlings = Math.min(size - army.alive, Math.floor(army.eggs))
    const around = 2 * nest.radius + 1
    for (let insect = first; hatchlings > 0 && insect < first + size; insect++) {
      if (health[insect]! > 0) continue
      hatchlings--
      const row = nest.y - nest.radius + random.below(around)
      const cell = row * stride + nest.x - nest.radius + random.below(around)
      if (grid[cell] !== empty) continue
      settle(war, army, insect, cell)
      army.hatched++
      army.eggs--
    }
  }

  return { bite, rest, hatch }
}
