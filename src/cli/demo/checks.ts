/** Whether an answer is right, found out another way than the workload did. Undefined: it is. */

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
