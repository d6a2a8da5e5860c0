/** Julia: a Julia set as PNG. The cost grows with the share of points that stay bounded. */

import { defineWorkload, reply } from 'plimsoll/workload'
import { indexedPng, ramp } from './drawing/canvas.ts'
import { glance } from './julia/glance.ts'
import { choice, parameters, real, whole } from './params/fields.ts'

/** Colours of escaping points, from the earliest to the latest. */
const gradients = {
  fire: [0x14001e, 0xc81e14, 0xffb428, 0xffffdc],
  ice: [0x000a28, 0x145aa0, 0x78d2f0, 0xffffff],
  forest: [0x0a1e0a, 0x286e32, 0xb4be46, 0xfafad2],
  grey: [0x101010, 0xffffff],
}

const size = whole({ min: 1, max: 4096 }).default(256)

export default defineWorkload({
  name: 'julia',
  description: 'A Julia set of z² + c as a PNG picture',
  deterministic: true,
  params: parameters({
    width: size.describe('Width in pixels'),
    height: size.describe('Height in pixels'),
    cx: real({ min: -2, max: 2 }).default(-0.8).describe('Real part of c'),
    cy: real({ min: -2, max: 2 }).default(0.156).describe('Imaginary part of c'),
    x: real({ min: -2, max: 2 }).default(0).describe('Real part of the centre'),
    y: real({ min: -2, max: 2 }).default(0).describe('Imaginary part of the centre'),
    zoom: real({ min: 0.1, max: 1e12 }).default(1).describe('Magnification; at 1 the shorter side is 3 wide'),
    iterations: whole({ min: 1, max: 10_000 })
      .default(256)
      .describe('Iterations after which a point counts as bounded'),
    palette: choice(['fire', 'ice', 'forest', 'grey']).default('fire').describe('Colours'),
  }),
  meter: { packages: ['fast-png', 'fflate', 'iobuffer'] },
  features(params) {
    const { steps, bounded } = glance(params)
    const pixels = params.width * params.height
    return { pixels, steps: pixels * steps, bounded, iterations: params.iterations }
  },

  run({ width, height, cx, cy, x, y, zoom, iterations, palette }, ctx) {
    const pixel = 3 / zoom / Math.min(width, height)
    const shades = new Uint8Array(width * height)
    for (let row = 0; row < height; row++) {
      const zy = y + (height / 2 - row - 0.5) * pixel
      for (let column = 0; column < width; column++) {
        const zx = x + (column + 0.5 - width / 2) * pixel
        shades[row * width + column] = shadeOf(zx, zy, cx, cy, iterations)
      }
      ctx.progress((row + 1) / height)
    }
    // Black for bounded points, then 255 shades.
    const colours = [0x000000, ...ramp(gradients[palette], 256).slice(0, 255)]
    return reply(indexedPng(width, height, shades, colours), { contentType: 'image/png' })
  },
})

/** 0 for a bounded point, else 1 to 255 by escape time. */
function shadeOf(startX: number, startY: number, cx: number, cy: number, iterations: number): number {
  let zx = startX
  let zy = startY
  for (let step = 0; step < iterations; step++) {
    const xx = zx * zx
    const yy = zy * zy
    // Far beyond the escape radius of 2, for smooth shades.
    if (xx + yy > 256) {
      const smoothStep = step + 4 - Math.log2(Math.log2(xx + yy))
      return 1 + Math.floor(254 * Math.sqrt(Math.min(1, Math.max(0, smoothStep / iterations))))
    }
    zy = 2 * zx * zy + cy
    zx = xx - yy + cx
  }
  return 0
}
