/** Palette of a map: land by height and light, visited land, and the path. */

import { type Colour, mixed, ramp } from '../drawing/canvas.ts'

export const levels = 16
export const lights = 5
const perLand = levels * lights

/** First palette index of each kind of land; add level × lights + light. */
export const landInks = { plain: 0, visited: perLand, outside: 2 * perLand }
/** Colours along the path. */
export const pathInks = { first: 3 * perLand, count: 10 }
const others = pathInks.first + pathInks.count
export const inks = { casing: others, start: others + 1, peak: others + 2, frame: others + 3 }

const heights: Colour[] = [
  ...[0x24564c, 0x3f7a4c, 0x7fa052, 0xc3bf6c, 0xd9b878],
  ...[0xb98e60, 0x96725f, 0x8d827f, 0xc4c4c6, 0xffffff],
]
const darkness: readonly number[] = [0.52, 0.28, 0.08, 0, 0]
const brightness: readonly number[] = [0, 0, 0, 0.1, 0.32]

export const palette: readonly Colour[] = makePalette()

function makePalette(): Colour[] {
  const plain: Colour[] = []
  for (const colour of ramp(heights, levels)) {
    for (let light = 0; light < lights; light++) {
      plain.push(mixed(mixed(colour, 0x141432, darkness[light]!), 0xfffbe8, brightness[light]!))
    }
  }
  return [
    ...plain,
    ...plain.map((colour) => mixed(colour, 0x2b5fe0, 0.42)),
    ...plain.map((colour) => mixed(colour, 0x10131c, 0.55)),
    ...ramp([0xffd23f, 0xf7751e, 0xe01f26, 0x9c0f4f], pathInks.count),
    ...[0x2a0808, 0xffe14d, 0xffffff, 0x0c0d12],
  ]
}
