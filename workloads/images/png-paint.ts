/** Converts PNG rows of any depth and colour type to RGBA pixels. */

import { damaged } from './picture.ts'
import { channelsOf, type PngFile } from './png-chunks.ts'
import type { Pass } from './png-rows.ts'

/** Receives the `index`-th row of a pass, without its filter byte. */
export type RowPainter = (row: Uint8Array, pass: Pass, index: number) => void

export function rowPainter(file: PngFile, target: Uint8Array): RowPainter {
  const { colourType, depth, width } = file
  const channels = channelsOf(colourType)
  const samples = new Uint16Array(width * channels)
  const paint = colourType === 3 ? palettePainter(file, target) : samplePainter(file, target)
  return (row, pass, index) => {
    unpack(row, samples, pass.columns * channels, depth)
    paint(samples, pass.columns, ((pass.y + index * pass.stepY) * width + pass.x) * 4, pass.stepX * 4)
  }
}

type SamplePainter = (samples: Uint16Array, columns: number, start: number, step: number) => void

/** Writes one stored sample per element. */
export function unpack(row: Uint8Array, samples: Uint16Array, count: number, depth: number): void {
  if (depth === 8) for (let i = 0; i < count; i++) samples[i] = row[i]!
  else if (depth === 16) for (let i = 0; i < count; i++) samples[i] = (row[2 * i]! << 8) | row[2 * i + 1]!
  else {
    const mask = 2 ** depth - 1
    for (let i = 0, bit = 0; i < count; i++, bit += depth) {
      samples[i] = (row[bit >> 3]! >> (8 - depth - (bit & 7))) & mask
    }
  }
}

function palettePainter({ palette, transparency }: PngFile, target: Uint8Array): SamplePainter {
  const colours = palette.length / 3
  const alphas = new Uint8Array(colours).fill(255)
  if (transparency) alphas.set(transparency)
  return (samples, columns, start, step) => {
    for (let i = 0, at = start; i < columns; i++, at += step) {
      const colour = samples[i]!
      if (colour >= colours)
        throw damaged('png', `colour ${colour} is not among the ${colours} of its palette`)
      target[at] = palette[colour * 3]!
      target[at + 1] = palette[colour * 3 + 1]!
      target[at + 2] = palette[colour * 3 + 2]!
      target[at + 3] = alphas[colour]!
    }
  }
}

function samplePainter({ colourType, depth, transparency }: PngFile, target: Uint8Array): SamplePainter {
  const coloured = colourType === 2 || colourType === 6
  const hasAlpha = colourType >= 4
  const channels = (coloured ? 3 : 1) + (hasAlpha ? 1 : 0)
  const largest = 2 ** depth - 1
  const levels = new Uint8Array(largest + 1)
  for (let sample = 0; sample <= largest; sample++) levels[sample] = Math.round((sample * 255) / largest)
  const [keyRed, keyGreen, keyBlue] = transparency ? keyOf(transparency, largest) : [-1, -1, -1]
  return (samples, columns, start, step) => {
    for (let i = 0, at = start; i < columns * channels; i += channels, at += step) {
      const red = samples[i]!
      const green = coloured ? samples[i + 1]! : red
      const blue = coloured ? samples[i + 2]! : red
      const alpha = hasAlpha ? samples[i + channels - 1]! : largest
      target[at] = levels[red]!
      target[at + 1] = levels[green]!
      target[at + 2] = levels[blue]!
      const keyed = red === keyRed && green === keyGreen && blue === keyBlue
      target[at + 3] = keyed ? 0 : levels[alpha]!
    }
  }
}

/** The transparent colour as stored samples; a grey level is repeated for red, green and blue. */
function keyOf(transparency: Uint8Array, largest: number): [number, number, number] {
  const sample = (at: number) => ((transparency[at]! << 8) | transparency[at + 1]!) & largest
  return transparency.length === 2 ? [sample(0), sample(0), sample(0)] : [sample(0), sample(2), sample(4)]
}
