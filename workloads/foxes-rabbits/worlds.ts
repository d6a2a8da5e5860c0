/** Worlds: the four grounds on which foxes and rabbits live. They are always the same; only who lives there differs. */

import { scramble } from '../random/scramble.ts'

export interface World {
  readonly width: number
  readonly height: number
  /** How much of the ground is water, where nothing lives. */
  readonly water: number
  /** Cells across a typical lake. */
  readonly lake: number
}

/** A meadow, a land of ponds, a lake district, an archipelago; each has four times the cells of the one before. */
export const worlds = {
  1: { width: 64, height: 48, water: 0, lake: 1 },
  2: { width: 128, height: 96, water: 0.15, lake: 14 },
  3: { width: 256, height: 192, water: 0.3, lake: 32 },
  4: { width: 512, height: 384, water: 0.4, lake: 64 },
} as const satisfies Record<number, World>

export type WorldNumber = keyof typeof worlds

/** 1 for each cell of a world, row by row, that is water. */
export function waterOf({ width, height, water, lake }: World): Uint8Array {
  const wet = new Uint8Array(width * height)
  if (water === 0) return wet
  const depths = new Uint8Array(width * height)
  const counts = new Uint32Array(256)
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const depth = Math.floor(255 * (0.7 * hills(row, column, lake) + 0.3 * hills(row, column, lake / 4)))
      depths[row * width + column] = depth
      counts[depth]!++
    }
  }
  let shore = 256
  for (let deeper = 0; deeper < water * width * height; ) deeper += counts[--shore]!
  for (let cell = 0; cell < wet.length; cell++) wet[cell] = depths[cell]! >= shore ? 1 : 0
  return wet
}

/** A smooth surface from 0 to 1 whose hills are about `step` cells apart. */
function hills(row: number, column: number, step: number): number {
  const y = row / step
  const x = column / step
  const top = Math.floor(y)
  const left = Math.floor(x)
  const down = smooth(y - top)
  const right = smooth(x - left)
  const above = heightAt(top, left) * (1 - right) + heightAt(top, left + 1) * right
  const below = heightAt(top + 1, left) * (1 - right) + heightAt(top + 1, left + 1) * right
  return above * (1 - down) + below * down
}

function heightAt(row: number, column: number): number {
  return scramble(row * 8191 + column + 1) / 2 ** 32
}

function smooth(part: number): number {
  return part * part * (3 - 2 * part)
}
