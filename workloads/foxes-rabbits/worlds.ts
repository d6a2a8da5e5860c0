/** The four worlds. Their terrain is fixed; only the population depends on the seed. */

import { scramble } from '../random/scramble.ts'

export interface World {
  readonly width: number
  readonly height: number
  /** Share of cells that are water. */
  readonly water: number
  /** Cells across a typical lake, a multiple of 4. */
  readonly lake: number
}

/** A meadow, a land of ponds, a lake district, an archipelago; each has four times the cells of the previous one. */
export const worlds = {
  1: { width: 64, height: 48, water: 0, lake: 4 },
  2: { width: 128, height: 96, water: 0.15, lake: 16 },
  3: { width: 256, height: 192, water: 0.3, lake: 32 },
  4: { width: 512, height: 384, water: 0.4, lake: 64 },
} as const satisfies Record<number, World>

export type WorldNumber = keyof typeof worlds

/** 1 for each water cell, row by row. */
export function waterOf({ width, height, water, lake }: World): Uint8Array {
  const wet = new Uint8Array(width * height)
  if (water === 0) return wet
  const depths = new Uint8Array(width * height)
  const counts = new Uint32Array(256)
  for (let row = 0; row < height; row++) {
    const depth = new Float64Array(width)
    addHills(depth, row, lake, 0.7 * 255)
    addHills(depth, row, lake / 4, 0.3 * 255)
    depths.set(depth, row * width)
  }
  for (let cell = 0; cell < depths.length; cell++) counts[depths[cell]!]!++
  let shore = 256
  for (let deeper = 0; deeper < water * width * height; ) deeper += counts[--shore]!
  for (let cell = 0; cell < wet.length; cell++) wet[cell] = depths[cell]! >= shore ? 1 : 0
  return wet
}

/** Adds one row of a smooth surface from 0 to `most`, with hills about `step` cells apart. */
function addHills(depth: Float64Array, row: number, step: number, most: number): void {
  const line = Math.floor(row / step)
  const down = smooth(row / step - line)
  let right = heightBetween(line, 0, down) * most
  for (let column = 0; column < depth.length; column += step) {
    const left = right
    right = heightBetween(line, column / step + 1, down) * most
    const end = Math.min(column + step, depth.length)
    for (let at = column; at < end; at++) depth[at]! += left + (right - left) * smooth((at - column) / step)
  }
}

/** Interpolates between two vertically adjacent random heights. */
function heightBetween(line: number, column: number, down: number): number {
  return heightAt(line, column) * (1 - down) + heightAt(line + 1, column) * down
}

function heightAt(line: number, column: number): number {
  return scramble(line * 8191 + column + 1) / 2 ** 32
}

function smooth(part: number): number {
  return part * part * (3 - 2 * part)
}
