/** Verifies answers by other algorithms than the workloads use. Undefined: the answer is correct. */

import { isPrime } from './primes.ts'

export function checkFactors(body: Buffer, n: string): string | undefined {
  const answer = parsed<{ n: string; factors: string[] }>(body)
  if (!answer || answer.n !== n || !Array.isArray(answer.factors)) return `not the factors of ${n}`
  if (!answer.factors.every((factor) => /^\d+$/.test(factor))) return `factors of ${n} that are not numbers`
  const factors = answer.factors.map(BigInt)
  const product = factors.reduce((all, factor) => all * factor, 1n)
  if (String(product) !== n) return `the product of ${factors.join(' × ')} is ${product}, not ${n}`
  const compound = factors.find((factor) => !isPrime(factor))
  return compound === undefined ? undefined : `${compound} is not prime`
}

const pngSignature = '89504e470d0a1a0a'

export function checkPicture(body: Buffer, width: number, height: number): string | undefined {
  if (body.length < 45 || body.subarray(0, 8).toString('hex') !== pngSignature) return 'not a PNG'
  if (body.subarray(12, 16).toString() !== 'IHDR') return 'a PNG without a header'
  const [actualWidth, actualHeight] = [body.readUInt32BE(16), body.readUInt32BE(20)]
  if (actualWidth !== width || actualHeight !== height)
    return `a picture of ${actualWidth} × ${actualHeight}, not ${width} × ${height}`
  return body.subarray(-8, -4).toString() === 'IEND' ? undefined : 'a PNG that is cut off'
}

interface Page {
  total: number
  page: number
  pages: number
  products: { id: number; name: string; category: string; priceCents: number }[]
}

export function checkBrowse(
  body: Buffer,
  asked: { category: string; pageSize: number; minPriceCents: number },
): string | undefined {
  const answer = parsed<Page>(body)
  if (!answer || !Array.isArray(answer.products)) return 'not a page of products'
  const { total, page, pages, products } = answer
  if (page !== 1 || pages !== Math.ceil(total / asked.pageSize))
    return `page ${page} of ${pages}, of ${total}`
  if (products.length !== Math.min(total, asked.pageSize)) return `${products.length} products on a page`
  for (const [i, { id, name, category, priceCents }] of products.entries()) {
    if (!Number.isInteger(id) || !name || category !== asked.category || priceCents < asked.minPriceCents)
      return `product ${id} was not asked for`
    if (i > 0 && priceCents < products[i - 1]!.priceCents) return 'products out of order'
  }
  return undefined
}

export function checkPurchase(
  body: Buffer,
  asked: { productId: number; quantity: number; customer: string },
): string | undefined {
  const order = parsed<{ orderId: number } & typeof asked>(body)
  if (!order || !Number.isInteger(order.orderId)) return 'not an order'
  const same =
    order.productId === asked.productId &&
    order.quantity === asked.quantity &&
    order.customer === asked.customer
  return same ? undefined : `order ${order.orderId} is not what ${asked.customer} asked for`
}

function parsed<T>(body: Buffer): T | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as T) : undefined
  } catch {
    return undefined
  }
}

interface Matches {
  genome: { bases: number }
  pattern: string
  total: number
  matches: { position: number; differences: number }[]
}

export function checkMatches(
  body: Buffer,
  asked: { pattern: string; mismatches: number; length: number },
): string | undefined {
  const answer = parsed<Matches>(body)
  if (!answer || !Array.isArray(answer.matches)) return 'not a list of matches'
  const { genome, pattern, total, matches } = answer
  if (genome.bases !== asked.length || pattern !== asked.pattern) return 'matches of another request'
  if (matches.length > total) return `${matches.length} matches, of ${total}`
  for (const [i, { position, differences }] of matches.entries()) {
    if (differences > asked.mismatches) return `a match with ${differences} differences`
    if (position < (matches[i - 1]?.position ?? 0) || position > asked.length) return 'matches out of order'
  }
  return undefined
}

interface Climb {
  start: { x: number; y: number; height: number }
  peak: { x: number; y: number; height: number }
  moves: number
  path: [number, number][]
}

/** A path starts at the start, ends at the peak, and moves from each cell to a neighbour. */
export function checkClimb(body: Buffer): string | undefined {
  const answer = parsed<Climb>(body)
  if (!answer || !Array.isArray(answer.path)) return 'not a path'
  const { start, peak, moves, path } = answer
  const [first, last] = [path[0], path.at(-1)]
  if (first?.[0] !== start.x || first[1] !== start.y) return 'a path that begins elsewhere'
  if (last?.[0] !== peak.x || last[1] !== peak.y) return 'a path that does not lead to the peak'
  if (path.length > moves + 1 || peak.height < start.height)
    return `${path.length} cells for ${moves} moves to a peak of ${peak.height}`
  // Long paths are thinned out.
  if (path.length < moves + 1) return undefined
  const leaps = path.some(([x, y], i) => {
    const [fromX, fromY] = path[Math.max(0, i - 1)]!
    return Math.abs(x - fromX) > 1 || Math.abs(y - fromY) > 1
  })
  return leaps ? 'a path with leaps' : undefined
}

interface Foxes {
  generations: number
  samples: { generation: number; rabbits: number; foxes: number }[]
}

export function checkFoxes(body: Buffer, asked: { generations: number }): string | undefined {
  const answer = parsed<Foxes>(body)
  if (!answer || !Array.isArray(answer.samples)) return 'not the course of two populations'
  const { samples } = answer
  if (answer.generations !== asked.generations) return `${answer.generations} generations`
  if (samples[0]?.generation !== 0 || samples.at(-1)!.generation !== asked.generations)
    return 'a course without its beginning or end'
  return samples.every(({ rabbits, foxes }) => rabbits >= 0 && foxes >= 0) ? undefined : 'fewer than none'
}

interface Army {
  insects: number
  survivors: number
  fallen: number
  hatched: number
}

export function checkWar(body: Buffer, asked: { army1: number; army2: number }): string | undefined {
  const answer = parsed<{ army1: Army; army2: Army }>(body)
  if (!answer?.army1 || !answer.army2) return 'not the end of a war'
  for (const name of ['army1', 'army2'] as const) {
    const { insects, survivors, fallen, hatched } = answer[name]
    if (insects !== asked[name] || survivors + fallen !== insects + hatched)
      return `${name}: ${survivors} survivors and ${fallen} fallen of ${insects} and ${hatched} hatched`
  }
  return undefined
}

export function checkImage(body: Buffer, format: string, side: number): string | undefined {
  if (format === 'png') return checkPicture(body, side, side)
  if (format === 'jpeg') {
    const whole = body.readUInt16BE(0) === 0xffd8 && body.readUInt16BE(body.length - 2) === 0xffd9
    return whole ? undefined : 'not a whole JPEG'
  }
  if (body.subarray(0, 2).toString('latin1') !== 'BM' || body.readUInt32LE(2) !== body.length)
    return 'not a BMP'
  const [width, height] = [body.readInt32LE(18), Math.abs(body.readInt32LE(22))]
  return width === side && height === side
    ? undefined
    : `a picture of ${width} × ${height}, not ${side} × ${side}`
}
