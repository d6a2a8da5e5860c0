/** How insects move over the field. */

import { type Army, empty, type War, wall } from './war.ts'

export interface Movement {
  /** One step towards the enemy's nest, with some random deviation. */
  march(insect: number, here: number, enemy: Army): void
  move(insect: number, here: number, dx: number, dy: number): void
}

export function movement(war: War): Movement {
  const { random, stride, grid, x, y, lane, armies } = war
  const [, two] = armies

  function march(insect: number, here: number, { nest }: Army): void {
    const toNest = nest.x - x[insect]!
    const near = Math.abs(toNest) * 5 < war.width
    const toRow = (near ? nest.y : lane[insect]!) - y[insect]!
    const wander = random.below(8)
    const dx = wander === 0 ? random.below(3) - 1 : Math.sign(toNest)
    const dy = wander < 2 ? random.below(3) - 1 : Math.sign(toRow)
    move(insect, here, dx, dy)
  }

  /** Moves around an obstacle if possible, or swaps places with an insect of the same army. */
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

  return { march, move }
}
