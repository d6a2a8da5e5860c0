/** Requests of the nine workloads of about a given size, each drawn as users would send it, and scaled. */

import { primeFrom } from '../../src/cli/demo/primes.ts'
import type { Random } from '../../src/lib/random.ts'
import type { Workload } from '../../src/workload/workload.ts'
import dna from '../../workloads/dna.ts'
import { encodeJpeg } from '../../workloads/images/jpeg-encode.ts'
import { encodePng } from '../../workloads/images/png-encode.ts'
import julia from '../../workloads/julia.ts'
import { paint } from '../estimate/pictures.ts'
import {
  anySeed,
  chance,
  oneOf,
  type Request,
  type StreamName,
  spread,
  weighted,
} from '../estimate/stream.ts'
import { sample as shopping } from '../estimate/streams/shop.ts'

/**
 * Makes requests of about a given time. Approximate rates suffice, because each job's time is measured; they are steps
 * per millisecond on a server core of 2023.
 */
interface Maker {
  /** Its share among the workloads that make requests of this size. */
  weight: number
  /** The longest request, beyond which pictures, maps or answers would become unrealistic. */
  mostMs: number
  make(ms: number, random: Random): Request
}

export const makers: Readonly<Record<StreamName, Maker>> = {
  factorize: { weight: 3, mostMs: 10_000, make: factorize },
  julia: { weight: 3, mostMs: 10_000, make: juliaSet },
  dna: {
    weight: 3,
    mostMs: 10_000,
    make: (ms, random) => (chance(random, 0.5) ? align : search)(ms, random),
  },
  grayscott: { weight: 3, mostMs: 10_000, make: grayscott },
  hillclimb: { weight: 3, mostMs: 500, make: hillclimb },
  'foxes-rabbits': { weight: 3, mostMs: 10_000, make: foxesRabbits },
  'insect-war': { weight: 3, mostMs: 10_000, make: insectWar },
  compress: { weight: 3, mostMs: 400, make: compress },
  // Requests of the shop are always short.
  shop: { weight: 6, mostMs: 15, make: (_, random) => shopping(random) },
}

/** Half are primes, whose cost is known; for the others, only the maximum is. */
function factorize(ms: number, random: Random): Request {
  // Beyond 2 ** 53 a division takes several times as long.
  const factor = ms < 100 ? ms * 900_000 : Math.max(95_000_000, ms * 130_000)
  const other = chance(random, 0.5) ? 1 : spread(random, 1, 30)
  const [p, q] = [primeFrom(Math.round(factor)), primeFrom(Math.round(factor * other))]
  return { params: { n: String(other === 1 ? primeFrom(Math.round(factor * factor)) : p * q) } }
}

/** Connected sets: points inside take all iterations. */
const sets = [
  [-1, 0],
  [-0.123, 0.745],
  [0.285, 0.01],
  [-0.4, 0.57],
  [0, 0.6],
  [-0.7, 0.1],
]

function juliaSet(ms: number, random: Random): Request {
  for (;;) {
    const [cx, cy] = oneOf(random, sets)
    const params: Record<string, unknown> = { cx, cy, iterations: Math.round(spread(random, 50, 5000)) }
    if (chance(random, 0.3)) {
      params.zoom = Math.round(spread(random, 0.7, 5) * 100) / 100
      params.x = Math.round((random.next() - 0.5) * 100) / 100
    }
    const { steps } = featuresOf(julia, { ...params, width: 64, height: 64 })
    const side = Math.round(Math.sqrt((ms * 170_000) / (Number(steps) / 64 ** 2)))
    if (side < 20 || side > 900) continue
    if (chance(random, 0.5)) params.palette = weighted(random, { ice: 5, forest: 3, grey: 2 })
    return { params: { width: side, height: side, ...params } }
  }
}

function search(ms: number, random: Random): Request {
  const letters = Math.round(spread(random, 6, 200))
  const pattern = Array.from({ length: letters }, () => 'ACGT'[random.below(4)]).join('')
  const mismatches = Math.floor(letters * 0.3 * random.next() ** 2)
  const params = { pattern, mismatches, strands: oneOf(random, ['forward', 'both']) }
  const { steps } = featuresOf(dna, { ...params, length: 10_000 })
  const length = Math.min(10_000_000, Math.round((ms * 350_000) / (Number(steps) / 10_000)))
  return { params: { ...params, length, seed: anySeed(random) } }
}

function align(ms: number, random: Random): Request {
  const band = Math.round(spread(random, ms < 100 ? 4 : 30, 400))
  const length = Math.max(100, Math.round((ms * 75_000) / (2 * band + 1)))
  return { params: { mode: 'align', band, length, seed: anySeed(random) } }
}

const presets = { coral: 8, maze: 6, mitosis: 5, spots: 4, worms: 3, holes: 2, chaos: 2, bubbles: 1 }

function grayscott(ms: number, random: Random): Request {
  const size = Math.round(spread(random, ms < 200 ? 24 : 100, ms < 20 ? 128 : 400))
  const iterations = Math.max(1, Math.min(50_000, Math.round((ms * 120_000) / size ** 2)))
  return { params: { size, iterations, preset: weighted(random, presets), seed: anySeed(random) } }
}

function hillclimb(ms: number, random: Random): Request {
  const side = Math.round(Math.min(1400, Math.max(24, Math.sqrt(ms * 5000) * spread(random, 0.8, 1.25))))
  const strategy = weighted(random, { BFS: 3, DFS: 4, ASTAR: 4 })
  const output = oneOf(random, ['png', 'json'])
  return { params: { map: anySeed(random), width: side, height: side, strategy, output } }
}

function foxesRabbits(ms: number, random: Random): Request {
  const steps = ms * 100_000
  const fits = [1, 2, 3, 4].filter((world) => cellsOf(world) * 20 < steps && cellsOf(world) * 10_000 > steps)
  const world = fits.length > 0 ? oneOf(random, fits) : 1
  const generations = Math.max(1, Math.min(10_000, Math.round(steps / cellsOf(world)) - 15))
  return { params: { world, scenario: 1 + random.below(3), generations, seed: anySeed(random) } }
}

function cellsOf(world: number): number {
  return 64 * 48 * 4 ** (world - 1)
}

function insectWar(ms: number, random: Random): Request {
  const steps = ms * 5000
  const army1 = Math.round(spread(random, Math.max(20, steps / 10_000), Math.min(4000, steps / 20)))
  const army2 = Math.max(1, Math.round(army1 * spread(random, 0.8, 1.25)))
  const rounds = Math.max(5, Math.min(5000, Math.round(steps / (army1 + army2))))
  return { params: { army1, army2, rounds, seed: anySeed(random) } }
}

function compress(ms: number, random: Random): Request {
  const pixels = ms * 3000
  const shape = oneOf(random, [1, 4 / 3, 3 / 4, 3 / 2])
  const width = Math.max(16, Math.round(Math.sqrt(pixels * shape)))
  const height = Math.max(16, Math.round(width / shape))
  const kind = weighted(random, { photo: 6, drawing: 3, text: 1 })
  const picture = paint({ kind, width, height, seed: anySeed(random), grey: false, alpha: false, grain: 5 })
  const body = chance(random, 0.6) ? encodeJpeg(picture, 85, () => {}) : encodePng(picture, 6, () => {})
  const format = weighted(random, { png: 4, jpeg: 5, bmp: 1 })
  return { params: { format, quality: oneOf(random, [0.4, 0.6, 0.8, 0.9]) }, body }
}

function featuresOf(workload: Workload, params: unknown): Record<string, unknown> {
  const valid = workload.params!['~standard'].validate(params)
  if (valid instanceof Promise || valid.issues) throw new Error(JSON.stringify(params))
  return workload.features!(valid.value, { bytes: 0, head: new Uint8Array() })
}
