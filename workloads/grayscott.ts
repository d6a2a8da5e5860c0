/** Gray-Scott: reaction-diffusion patterns as PNG. The simulation ends early when the pattern is stable. */

import { defineWorkload, reply } from 'plimsoll/workload'
import { indexedPng, ramp } from './drawing/canvas.ts'
import { likelyIterations } from './grayscott/outlook.ts'
import { emptyField, type Field, largestChange, type Rates, react, startField } from './grayscott/reaction.ts'
import { choice, parameters, real, whole } from './params/fields.ts'

const presets = {
  coral: { feed: 0.0545, kill: 0.062 },
  maze: { feed: 0.029, kill: 0.057 },
  spots: { feed: 0.03, kill: 0.062 },
  holes: { feed: 0.039, kill: 0.058 },
  mitosis: { feed: 0.0367, kill: 0.0649 },
  worms: { feed: 0.058, kill: 0.065 },
  chaos: { feed: 0.026, kill: 0.051 },
  bubbles: { feed: 0.012, kill: 0.05 },
}

/** Colours from no V to most V. */
const palettes = {
  ember: [0x03071e, 0x370617, 0xd00000, 0xf48c06, 0xffe08a],
  lagoon: [0x001219, 0x005f73, 0x0a9396, 0x94d2bd, 0xf4f1de],
  orchid: [0x10002b, 0x5a189a, 0xc77dff, 0xffe5ec],
  moss: [0x0b1d13, 0x2d6a4f, 0x95d5b2, 0xfefae0],
  grey: [0x101010, 0xf8f8f8],
}

/** Limit of cells × iterations: about 20 s. */
const mostCellSteps = 2_000_000_000
/** Iterations between checks for stability. */
const lookEvery = 32
/** The pattern is stable if an iteration changes no cell by more than this. */
const settledChange = 1e-6
/** Concentration of V that is drawn in the last colour. */
const brightest = 0.4
/** Cost of setup and drawing, in iterations. */
const drawingSteps = 3.5
/** Cell steps between progress reports: a few milliseconds. */
const cellStepsPerProgress = 500_000

export default defineWorkload({
  name: 'grayscott',
  description: 'A Gray-Scott reaction-diffusion pattern as a PNG picture',
  deterministic: true,
  params: parameters({
    size: whole({ min: 16, max: 1024 }).default(128).describe('Width and height in pixels'),
    iterations: whole({ min: 1, max: 50_000 })
      .default(2000)
      .describe(`Maximum number of iterations; size × size × iterations must be at most ${mostCellSteps}`),
    preset: choice(['coral', 'maze', 'spots', 'holes', 'mitosis', 'worms', 'chaos', 'bubbles'])
      .default('coral')
      .describe('Defaults of feed and kill'),
    feed: real({ min: 0, max: 0.1 }).optional().describe('Rate at which U is added'),
    kill: real({ min: 0.03, max: 0.1 }).optional().describe('Rate at which V is removed'),
    seed: whole({ min: 0, max: 4_294_967_295 }).default(1).describe('Seed of the initial drops of V'),
    palette: choice(['ember', 'lagoon', 'orchid', 'moss', 'grey']).default('ember').describe('Colours'),
  }).refine(({ size, iterations }) => size * size * iterations <= mostCellSteps, {
    path: ['iterations'],
    error: ({ input }) => {
      const { size } = input as { size: number }
      return `must be at most ${Math.floor(mostCellSteps / size ** 2)} for a size of ${size}`
    },
  }),
  features({ size, iterations, ...given }) {
    const cells = size * size
    const rates = ratesOf(given)
    const likely = Math.min(iterations, likelyIterations(rates, settledChange))
    return { cells, cellSteps: cells * iterations, steps: cells * (likely + drawingSteps), ...rates }
  },
  meter: { packages: ['fast-png', 'fflate', 'iobuffer'] },

  run({ size, iterations, seed, palette, ...given }, ctx) {
    const rates = ratesOf(given)
    let field = startField(size, seed)
    let next = emptyField(size)
    let done = 0
    let settled = false
    const progressEvery = Math.ceil(cellStepsPerProgress / size ** 2)
    while (done < iterations && !settled) {
      react(field, next, rates)
      done++
      ctx.steps(size * size)
      if (done % lookEvery === 0) settled = largestChange(field, next) <= settledChange
      ;[field, next] = [next, field]
      if (done % progressEvery === 0) ctx.progress(done / iterations)
    }
    const png = indexedPng(size, size, shadesOf(field), ramp(palettes[palette], 256))
    ctx.progress(1)
    return reply(png, {
      contentType: 'image/png',
      headers: { 'grayscott-iterations': String(done), 'grayscott-settled': String(settled) },
    })
  },
})

function ratesOf(given: {
  preset: keyof typeof presets
  feed?: number | undefined
  kill?: number | undefined
}): Rates {
  const { feed, kill } = presets[given.preset]
  return { feed: given.feed ?? feed, kill: given.kill ?? kill }
}

/** The concentration of V, one byte per cell. */
function shadesOf({ size, v }: Field): Uint8Array {
  const shades = new Uint8Array(size * size)
  for (let row = 0; row < size; row++) {
    const start = (row + 1) * (size + 2) + 1
    for (let column = 0; column < size; column++) {
      shades[row * size + column] = Math.round(255 * Math.min(1, v[start + column]! / brightest))
    }
  }
  return shades
}
