/** Draws the field: ground stained where insects fell, nests, and a sprite for every insect. */

import { Canvas, type Colour, mixed, ramp } from '../drawing/canvas.ts'
import { heightsOf, landOf } from '../hillclimb/terrain.ts'
import { spriteOf } from './sprites.ts'
import { margin, type Nest, type War } from './war.ts'

const longestSide = 640
const largestCell = 9

const grounds = 10
const stains = 6
const ground = ramp([0x4d5a2c, 0x66703a, 0x837f4c, 0x9a8a5a], grounds)
const armyColours: readonly [Colour, Colour] = [0xe2472f, 0x2f9fe2]
const shadow = 0x17130d
/** Lightness of the body, by kind. */
const tones = [0, 0.45, 0.3, -0.35]

const bodyInk = grounds * stains
const legInk = bodyInk + 2 * tones.length
const moundInk = legInk + 2
const mounds = 4
const ringInk = moundInk + mounds

const palette: readonly Colour[] = [
  ...Array.from({ length: stains }, (_, stain) =>
    ground.map((colour) => mixed(colour, 0x4a0d10, (0.75 * stain) / (stains - 1))),
  ).flat(),
  ...armyColours.flatMap((colour) =>
    tones.map((tone) => mixed(colour, tone > 0 ? 0xfff1c4 : 0x000000, Math.abs(tone))),
  ),
  ...armyColours.map((colour) => mixed(colour, shadow, 0.7)),
  ...ramp([0x2b1d10, 0x5a4026, 0x86643c, 0xb08c5a], mounds),
  ...armyColours,
]

export function drawField(war: War, seed: number): Uint8Array {
  const cell = cellSide(war.width)
  const canvas = new Canvas(war.width * cell, war.height * cell)
  drawGround(canvas, war, cell, seed)
  for (const army of [0, 1] as const) drawNest(canvas, war.armies[army].nest, cell, ringInk + army)
  drawInsects(canvas, war, cell)
  return canvas.png(palette)
}

/** In pixels. */
export function cellSide(fieldWidth: number): number {
  return Math.max(1, Math.min(largestCell, Math.floor(longestSide / fieldWidth)))
}

function drawGround(canvas: Canvas, { graves, stride }: War, cell: number, seed: number): void {
  const { width, height, pixels } = canvas
  const land = landOf(seed, width, height)
  const heights = new Uint16Array(width)
  for (let y = 0; y < height; y++) {
    heightsOf(land, 0, y, 1, heights)
    const row = (Math.floor(y / cell) + margin) * stride + margin
    for (let x = 0; x < width; x++) {
      const fallen = graves[row + Math.floor(x / cell)]!
      // Each stain level stands for twice as many fallen insects.
      const stain = Math.min(stains - 1, 32 - Math.clz32(fallen))
      pixels[y * width + x] = stain * grounds + ((heights[x]! * grounds) >> 16)
    }
  }
}

/** A destroyed nest is a dark hole; the ring shows the army, and its size the nest's health. */
function drawNest(
  canvas: Canvas,
  { x, y, health, fullHealth, radius }: Nest,
  cell: number,
  ring: number,
): void {
  const [middleX, middleY] = [(x - margin) * cell + (cell >> 1), (y - margin) * cell + (cell >> 1)]
  const size = Math.max(3, Math.floor((radius * cell) / 4))
  canvas.disc(middleX, middleY, size + Math.max(1, size >> 3), health > 0 ? ring : moundInk)
  const levels = health > 0 ? mounds : 1
  for (let level = 0; level < levels; level++) {
    const part = 1 - level / mounds
    canvas.disc(middleX, middleY, Math.floor(size * part * (0.5 + health / fullHealth / 2)), moundInk + level)
  }
}

function drawInsects(canvas: Canvas, { x, y, health, kind, armies }: War, cell: number): void {
  for (let insect = 0; insect < health.length; insect++) {
    if (health[insect] === 0) continue
    const army = insect < armies[1].first ? 0 : 1
    const sprite = spriteOf(kind[insect]!, cell)
    const [left, top] = [(x[insect]! - margin) * cell, (y[insect]! - margin) * cell]
    const body = bodyInk + army * tones.length + kind[insect]!
    for (let row = 0; row < sprite.length; row++) {
      const line = sprite[row]!
      for (let column = 0; column < line.length; column++) {
        if (line[column] === 0) continue
        // The second army is mirrored.
        const at = army === 0 ? column : line.length - 1 - column
        canvas.set(left + at, top + row, line[column] === 1 ? body : legInk + army)
      }
    }
  }
}
