/** Requests of hillclimb: numbered and uploaded maps, all strategies, starts and search areas anywhere. */
import { encode } from 'fast-png'
import type { Random } from '../../../src/lib/random.ts'
import { heightsOf, landOf } from '../../../workloads/hillclimb/terrain.ts'
import hillclimb from '../../../workloads/hillclimb.ts'
import { anySeed, chance, oneOf, type Request, weighted, wholeSpread } from '../stream.ts'

interface Side {
  width: number
  height: number
}

export function sample(random: Random): Request {
  const params: Record<string, unknown> = {}
  if (chance(random, 0.7)) params.strategy = weighted(random, { BFS: 3, DFS: 4, ASTAR: 2 })
  if (chance(random, 0.3)) params.reach = Number(weighted(random, { 2: 5, 3: 3, 4: 1 }))
  if (chance(random, 0.2)) params.grade = oneOf(random, [0.5, 1.5, 2, 3, 5])
  if (chance(random, 0.4)) params.output = 'json'
  // Long reaches mean many candidate moves.
  const reach = (params.reach as number | undefined) ?? 1
  const width = chance(random, 0.2)
    ? oneOf(random, [64, 128, 256, 400])
    : wholeSpread(random, 24, 800 / reach)
  const height = Math.max(16, Math.round(width * oneOf(random, [1, 1, 1, 0.75, 0.5, 1.4])))
  place(params, { width, height }, random)
  if (chance(random, 0.25)) return { params, body: upload(anySeed(random), { width, height }) }
  const map = chance(random, 0.5) ? 1 + random.below(20) : anySeed(random)
  return { params: { map, width, height, ...params } }
}

/** Another map of the same size, with a peak at about the same estimated distance. */
export function vary({ params, body }: Request, random: Random): Request {
  if (body) {
    const header = Buffer.from(body)
    return {
      params,
      body: upload(anySeed(random), { width: header.readUInt32BE(16), height: header.readUInt32BE(20) }),
    }
  }
  const wanted = distanceOf(params)
  let nearest = params
  let nearestOff = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < 40 && nearestOff > 0.03; tries++) {
    const tried = { ...params, map: anySeed(random) }
    const off = Math.abs(distanceOf(tried) / wanted - 1)
    if (off < nearestOff) [nearest, nearestOff] = [tried, off]
  }
  return { params: nearest }
}

function distanceOf(params: Record<string, unknown>): number {
  const valid = hillclimb.params!['~standard'].validate(params)
  if (valid instanceof Promise || valid.issues) throw new Error(JSON.stringify(params))
  return 1 + Number(hillclimb.features!(valid.value, { bytes: 0, head: new Uint8Array() }).distance)
}

/** Sometimes adds a start and a search area. */
function place(params: Record<string, unknown>, { width, height }: Side, random: Random): void {
  const area = { x0: 0, y0: 0, x1: width - 1, y1: height - 1 }
  if (chance(random, 0.2)) {
    area.x0 = random.below(width >> 1)
    area.y0 = random.below(height >> 1)
    area.x1 -= random.below((width - area.x0) >> 1)
    area.y1 -= random.below((height - area.y0) >> 1)
    Object.assign(params, area)
  }
  if (chance(random, 0.7)) {
    params.xS = area.x0 + random.below(area.x1 - area.x0 + 1)
    params.yS = area.y0 + random.below(area.y1 - area.y0 + 1)
  }
}

/** An uploaded map: grey, 8 bits. */
function upload(map: number, { width, height }: Side): Uint8Array {
  const land = landOf(map, width, height)
  const row = new Uint16Array(width)
  const data = new Uint8Array(width * height)
  for (let y = 0; y < height; y++) {
    heightsOf(land, 0, y, 1, row)
    for (let x = 0; x < width; x++) data[y * width + x] = row[x]! >> 8
  }
  return encode({ width, height, data, channels: 1 })
}
