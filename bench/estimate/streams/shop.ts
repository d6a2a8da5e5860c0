/** Requests of shop: many visitors browse, few buy, and popular products sell out. */
import type { Random } from '../../../src/lib/random.ts'
import { productCount } from '../../../workloads/shop/catalogue.ts'
import { chance, oneOf, type Request, weighted, wholeSpread } from '../stream.ts'

const categories = { kitchen: 5, garden: 4, office: 3, sport: 2, music: 1 }
const words = [
  'oak',
  'lamp',
  'steel',
  'mug',
  'folding',
  'golden',
  'kettle',
  'round',
  'sled',
  'glass pan',
  'x',
]
const customers = ['Ada', 'Grace Hopper', 'Alan', 'Katherine Johnson', 'Edsger', 'Barbara', 'Radia Perlman']

export function sample(random: Random): Request {
  return { params: chance(random, 0.25) ? purchase(random) : browse(random) }
}

function browse(random: Random): Record<string, unknown> {
  const params: Record<string, unknown> = { action: 'browse' }
  if (chance(random, 0.6)) params.category = weighted(random, categories)
  if (chance(random, 0.4)) params.search = oneOf(random, words)
  if (chance(random, 0.25)) params.minPriceCents = 100 * wholeSpread(random, 1, 150)
  if (chance(random, 0.3)) params.maxPriceCents = 100 * wholeSpread(random, 150, 1000)
  if (chance(random, 0.4)) params.sort = weighted(random, { price: 4, 'price-descending': 1 })
  if (chance(random, 0.45)) params.page = wholeSpread(random, 2, 40)
  if (chance(random, 0.3)) params.pageSize = oneOf(random, [10, 50, 100])
  return params
}

function purchase(random: Random): Record<string, unknown> {
  const params: Record<string, unknown> = {
    action: 'purchase',
    // Some ids do not exist.
    productId: wholeSpread(random, 1, productCount * 1.2),
    customer: `${oneOf(random, customers)} ${1 + random.below(500)}`,
  }
  if (chance(random, 0.4)) params.quantity = wholeSpread(random, 1, 20)
  return params
}
