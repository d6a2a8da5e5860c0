/** One round of a war: each insect looks around, then bites, approaches, marches or retreats; nests hatch. */

import { combat } from './combat.ts'
import type { Heroes } from './heroes.ts'
import { kinds } from './kinds.ts'
import { movement } from './movement.ts'
import type { War } from './war.ts'

/** An insect with less than a fourth of its health retreats to its nest. */
const hurtShare = 4

/** Cells in sight, nearest first, as offsets in the grid, and the step towards each. */
interface Around {
  delta: Int32Array
  stepX: Int8Array
  stepY: Int8Array
}

const neighbours = 8

export function fighting(war: War, heroes: Heroes): () => void {
  const { stride, grid, x, y, health, kind, armies } = war
  const [one, two] = armies
  const { march, move } = movement(war)
  const { bite, rest, hatch } = combat(war, heroes)
  // Mirrored like the armies, so that neither has an advantage.
  const views = [1, -1].map((facing) => kinds.map(({ sight }) => aroundWithin(sight, stride, facing)))
  const insects = one.size + two.size

  function act(insect: number): void {
    const isOne = insect < two.first
    const own = isOne ? one : two
    const enemy = isOne ? two : one
    const { pace, health: fullHealth } = kinds[kind[insect]!]!
    const { delta, stepX, stepY } = views[isOne ? 0 : 1]![kind[insect]!]!
    // `pace` is in steps per two rounds; an odd pace rounds up in every second round.
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

  return () => {
    war.round++
    // Acting first is an advantage, so the order alternates every two rounds (slow insects step every second round).
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
      // Sorted by ring, so that the eight neighbours come first.
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
