/** Requests of julia: well-known sets and random ones, at the sizes of screens and previews, near and far. */
import type { Random } from '../../../src/lib/random.ts'
import { chance, oneOf, type Request, spread, weighted, wholeSpread } from '../stream.ts'

/** Popular values of c. */
const known: [cx: number, cy: number][] = [
  [-0.8, 0.156],
  [0.285, 0.01],
  [-0.4, 0.6],
  [-0.7269, 0.1889],
  [-0.70176, -0.3842],
  [-0.835, -0.2321],
  [0, -0.8],
  [-0.123, 0.745],
  [-1, 0],
  [-0.75, 0.11],
]
const screens: [width: number, height: number][] = [
  [160, 120],
  [256, 256],
  [320, 240],
  [640, 480],
]

/** The maximum number of steps of all points together, if none escapes. */
const mostSteps = 120_000_000

export function sample(random: Random): Request {
  const params: Record<string, unknown> = {}
  let [width, height] = chance(random, 0.5) ? oneOf(random, screens) : [0, 0]
  if (width === 0) {
    width = wholeSpread(random, 32, 700)
    height = Math.max(1, Math.round(width * oneOf(random, [1, 1, 0.75, 0.5625, 1.5])))
  }
  if (width !== 256 || height !== 256) Object.assign(params, { width, height })
  if (chance(random, 0.7)) {
    const most = Math.max(50, Math.min(3000, mostSteps / (width * height)))
    params.iterations = wholeSpread(random, 20, most)
  }
  if (chance(random, 0.6)) [params.cx, params.cy] = oneOf(random, known)
  else if (chance(random, 0.9)) {
    // Near the edge of the Mandelbrot set, where sets look interesting.
    const angle = 2 * Math.PI * random.next()
    const far = 0.5 * spread(random, 0.6, 1.4)
    params.cx = round(far * Math.cos(angle) - far * far * Math.cos(2 * angle))
    params.cy = round(far * Math.sin(angle) - far * far * Math.sin(2 * angle))
  }
  if (chance(random, 0.35)) {
    params.zoom = round(spread(random, 0.5, 200))
    params.x = round(2 * random.next() - 1)
    params.y = round(1.6 * random.next() - 0.8)
  }
  if (chance(random, 0.5)) params.palette = weighted(random, { ice: 5, forest: 3, grey: 2 })
  return { params }
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
