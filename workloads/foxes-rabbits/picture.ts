/** Draws the final state of the world and, below it, the history of both populations. */

import { indexedPng, ramp } from '../drawing/canvas.ts'
import { fox, type Life, rabbit, water } from './life.ts'

const width = 512
const mapHeight = 384
const chartHeight = 128
const margin = 8

const grassShades = 16
const shade = { water: 16, rabbit: 17, fox: 18, paper: 19, rabbits: 20, foxes: 21, line: 22 }
const palette = [
  // From bare earth to edible grass.
  ...ramp([0xc9b27c, 0x9fb46a, 0x5f9a4f], grassShades),
  ...[0x2f6f9f, 0xfff6dc, 0xe4421e, 0xfdf8ee, 0xa9bf8f, 0xe4421e, 0xe6dcc8],
]

/** Populations by generation. */
export interface History {
  rabbits: Uint32Array
  foxes: Uint32Array
}

export function draw(life: Life, history: History): Uint8Array {
  const data = new Uint8Array(width * (mapHeight + chartHeight)).fill(shade.paper)
  drawMap(data, life)
  drawChart(data, history)
  return indexedPng(width, mapHeight + chartHeight, data, palette)
}

function drawMap(data: Uint8Array, life: Life): void {
  const side = width / life.world.width
  for (let row = 0; row < mapHeight; row++) {
    const cellRow = Math.floor(row / side)
    for (let column = 0; column < width; column++) {
      const cellColumn = Math.floor(column / side)
      const at = (cellRow + 1) * (life.world.width + 2) + cellColumn + 1
      const inside = isInside(row - cellRow * side, column - cellColumn * side, side)
      data[row * width + column] = shadeOf(life, at, inside)
    }
  }
}

/** Animals are drawn as circles if cells are large enough. */
function isInside(row: number, column: number, side: number): boolean {
  const middle = (side - 1) / 2
  return (row - middle) ** 2 + (column - middle) ** 2 <= (side * 0.45) ** 2 + 0.3
}

function shadeOf(life: Life, at: number, inside: boolean): number {
  const who = life.cells[at]
  if (who === water) return shade.water
  if (inside && who === rabbit) return shade.rabbit
  if (inside && who === fox) return shade.fox
  const grown = 1 - life.bare[at]! / life.scenario.regrowth
  return Math.round(grown * (grassShades - 1))
}

/** Each population relative to its maximum: rabbits as an area, foxes as a line. */
function drawChart(data: Uint8Array, { rabbits, foxes }: History): void {
  const bottom = mapHeight + chartHeight - margin
  const room = chartHeight - 2 * margin
  const columns = width - 2 * margin
  for (let column = 0; column < columns; column++) data[bottom * width + margin + column] = shade.line
  const mostRabbits = highest(rabbits)
  const mostFoxes = highest(foxes)
  let before = -1
  for (let column = 0; column < columns; column++) {
    const at = (column / (columns - 1)) * (rabbits.length - 1)
    const x = margin + column
    const rabbitsHigh = Math.round((room * between(rabbits, at)) / mostRabbits)
    for (let y = 0; y < rabbitsHigh; y++) data[(bottom - 1 - y) * width + x] = shade.rabbits
    const foxesHigh = Math.round(((room - 2) * between(foxes, at)) / mostFoxes)
    const from = before < 0 ? foxesHigh : Math.min(before, foxesHigh)
    const to = before < 0 ? foxesHigh : Math.max(before, foxesHigh)
    for (let y = from; y <= to + 1; y++) data[(bottom - 1 - y) * width + x] = shade.foxes
    before = foxesHigh
  }
}

function highest(numbers: Uint32Array): number {
  let most = 1
  for (let i = 0; i < numbers.length; i++) most = Math.max(most, numbers[i]!)
  return most
}

/** Linear interpolation. */
function between(numbers: Uint32Array, at: number): number {
  const low = numbers[Math.floor(at)]!
  const high = numbers[Math.ceil(at)]!
  return low + (high - low) * (at % 1)
}
