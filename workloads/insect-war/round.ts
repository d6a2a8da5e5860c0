/** One round of a war: each insect looks around, then bites, closes in, marches on or limps home; nests hatch. */

import type { Heroes } from './heroes.ts'
import { kinds } from './kinds.ts'
import { type Army, empty, settle, type War, wall } from './war.ts'

/** An insect with less than this share of its health goes home. */
const hurtShare = 4
/** So near to the enemy's nest an insect gnaws at it. */
const gnawCells = 2
const healthPerRound = 4
/** What a nest without an army hatches each round, for the square root of all insects: fronts are as long as that. */
const hatchRate = 0.3
/** What a nest regains each round, for one insect of its army. */
const nestRepair = 0.02

/** Cells around one, the nearest first, and the step that leads there. */
interface Around {
  delta: Int32Array
  stepX: Int8Array
  stepY: Int8Array
}

const neighbours = 8

export function fighting(war: War, heroes: Heroes): () => void {
  const { random, stride, grid, x, y, health, kind, lane, kills, armies, graves } = war
  const [one, two] = armies
  // Mirrored like the armies, so that none has the better view.
  const views = [1, -1].map((facing) => kinds.map(({ sight }) => aroundWithin(sight, stride, facing)))
  const insects = one.size + two.size

  function act(insect: number): void {
    const isOne = insect < two.first
    const own = isOne ? one : two
    const enemy = isOne ? two : one
    const { pace, health: fullHealth } = kinds[kind[insect]!]!
    const { delta, stepX, stepY } = views[isOne ? 0 : 1]![kind[insect]!]!
    // An even pace is so many half steps a round, an odd one is made good every second round.
    const steps = (pace + (war.round & 1)) >> 1
    const firstEnemy = enemy.first + 1
    for (let step = 0; step <= steps; step++) {
      const here = y[insect]! * stride + x[insect]!
      let seen = 0
      while (seen < delta.length && (grid[here + delta[seen]!]! - firstEnemy) >>> 0 >= enemy.size) seen++
      if (seen < neighbours) {
        bite(insect, grid[here + delta[seen]!]! - 1, enemy)
        return
      }
      if (step === steps) break
      if (health[insect]! * hurtShare < fullHealth) {
        move(insect, here, Math.sign(own.nest.x - x[insect]!), Math.sign(own.nest.y - y[insect]!))
      } else if (seen < delta.length) {
        move(insect, here, stepX[seen]!, stepY[seen]!)
      } else {
        march(insect, here, enemy)
      }
    }
    rest(insect, own, enemy, fullHealth)
  }

  function march(insect: number, here: number, { nest }: Army): void {
    const toNest = nest.x - x[insect]!
    const near = Math.abs(toNest) * 5 < war.width
    const toRow = (near ? nest.y : lane[insect]!) - y[insect]!
    const wander = random.below(8)
    const dx = wander === 0 ? random.below(3) - 1 : Math.sign(toNest)
    const dy = wander < 2 ? random.below(3) - 1 : Math.sign(toRow)
    move(insect, here, dx, dy)
  }

  /** Around what is in the way, if it can, or past a comrade, who steps back. */
  function move(insect: number, here: number, dx: number, dy: number): void {
    if (step(insect, here, dx, dy)) return
    const chance = random.below(4)
    if (chance === 0) step(insect, here, dx, dy === 0 ? 1 : 0)
    else if (chance === 1) step(insect, here, dx, dy === 0 ? -1 : 0)
    else if (chance === 2) step(insect, here, dx === 0 ? dy : 0, dy)
    else pass(insect, here, dx, dy)
  }

  function pass(insect: number, here: number, dx: number, dy: number): void {
    const there = here + dy * stride + dx
    const other = grid[there]! - 1
    if (grid[there] === wall || other === insect || other < two.first !== insect < two.first) return
    grid[there] = insect + 1
    grid[here] = other + 1
    x[other] = x[insect]!
    y[other] = y[insect]!
    x[insect] = x[insect]! + dx
    y[insect] = y[insect]! + dy
  }

  function step(insect: number, here: number, dx: number, dy: number): boolean {
    const there = here + dy * stride + dx
    if (grid[there] !== empty) return false
    grid[there] = insect + 1
    grid[here] = empty
    x[insect] = x[insect]! + dx
    y[insect] = y[insect]! + dy
    return true
  }

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

  /** With no enemy near there is time to heal at home, or to gnaw at the enemy's nest. */
  function rest(insect: number, own: Army, enemy: Army, fullHealth: number): void {
    if (isNear(insect, own, own.nest.radius)) {
      health[insect] = Math.min(fullHealth, health[insect]! + healthPerRound)
    } else if (isNear(insect, enemy, gnawCells)) {
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

  return () => {
    war.round++
    // To come first matters: two rounds for one army, as slow insects step in every second, two for the other.
    if (war.round & 2) {
      for (let insect = 0; insect < insects; insect++) if (health[insect]! > 0) act(insect)
    } else {
      for (let insect = insects - 1; insect >= 0; insect--) if (health[insect]! > 0) act(insect)
    }
    hatch(one)
    hatch(two)
  }
}

function aroundWithin(sight: number, stride: number, facing: number): Around {
  const cells: { dx: number; dy: number; far: number }[] = []
  for (let dy = -sight; dy <= sight; dy++) {
    for (let dx = -sight; dx <= sight; dx++) {
      // By rings, so that the eight neighbours come first.
      if (dx !== 0 || dy !== 0) cells.push({ dx: dx * facing, dy, far: Math.max(Math.abs(dx), Math.abs(dy)) })
    }
  }
  cells.sort((a, b) => a.far - b.far)
  return {
    delta: Int32Array.from(cells, ({ dx, dy }) => dy * stride + dx),
    stepX: Int8Array.from(cells, ({ dx }) => Math.sign(dx)),
    stepY: Int8Array.from(cells, ({ dy }) => Math.sign(dy)),
  }
}
