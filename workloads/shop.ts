/** Shop: browses a catalogue in SQLite, or buys from it. A purchase happens once, however often its job is retried. */

import type { DatabaseSync } from 'node:sqlite'
import { defineWorkload, reply } from 'plimsoll/workload'
import { z } from 'zod'
import { choice, expected, parameters, text, whole } from './params/fields.ts'
import { categories, highestPriceCents, openShop, productCount } from './shop/catalogue.ts'

const priceCents = whole({ min: 0, max: 100_000_000 })

const browseParams = parameters({
  action: z.literal('browse'),
  category: choice(categories).optional(),
  search: text({ maxLength: 100 }).optional().describe('Substring of the product name'),
  minPriceCents: priceCents.default(0),
  maxPriceCents: priceCents.default(100_000_000),
  sort: choice(['name', 'price', 'price-descending']).default('name'),
  page: whole({ min: 1, max: 1_000_000 }).default(1),
  pageSize: whole({ min: 1, max: 100 }).default(20),
}).refine(({ minPriceCents, maxPriceCents }) => minPriceCents <= maxPriceCents, {
  path: ['minPriceCents'],
  error: 'must not be above maxPriceCents',
})

const purchaseParams = parameters({
  action: z.literal('purchase'),
  productId: whole({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  quantity: whole({ min: 1, max: 100 }).default(1),
  customer: text({ maxLength: 100 }),
})

const expectedAction = expected('one of browse, purchase')

export default defineWorkload({
  name: 'shop',
  description: 'Browses a catalogue of products, or buys one',
  params: z.discriminatedUnion('action', [browseParams, purchaseParams], {
    error: ({ code, input }) =>
      code === 'invalid_union'
        ? expectedAction({ input: (input as { action?: unknown }).action })
        : undefined,
  }),
  safeToRepeat: (params) => params.action === 'browse',
  lane: ({ action }) => action,
  // Stock changes only with sales; a result may be a second old.
  deterministic: (params) => params.action === 'browse',
  cacheMs: 1000,
  features: (params) =>
    params.action === 'purchase'
      ? { action: params.action, products: 1 }
      : { action: params.action, products: Math.min(params.pageSize, likelyMatches(params)) },

  run(params, ctx) {
    // Reads take short locks too: a process paused while holding one would block others.
    return ctx.uninterrupted(() => {
      const db = openShop(ctx.dataDir)
      const answer = params.action === 'browse' ? browse(db, params) : purchase(db, params, ctx.jobId)
      const rows = params.action === 'browse' ? browsedRows : boughtRows
      ctx.charge(rows * unitsPerRow + JSON.stringify(answer).length * unitsPerByte)
      return answer
    })
  },
})

/** SQLite is not metered, so rows read or written and bytes returned are charged. */
const unitsPerRow = 1000
const unitsPerByte = 40
/** All products are scanned twice: once to count and once to select. */
const browsedRows = 2 * productCount
/** A few rows are written and synced to disk, which costs as much as reading many. */
const boughtRows = 2000

const order = { name: 'name', price: 'priceCents, id', 'price-descending': 'priceCents DESC, id' }

/** Expected number of products from this page on, assuming a uniform distribution over categories and prices. */
function likelyMatches(params: z.output<typeof browseParams>): number {
  const { category, search, minPriceCents, maxPriceCents, page, pageSize } = params
  const upper = Math.min(maxPriceCents, highestPriceCents)
  const priced = Math.max(0, (upper - minPriceCents) / highestPriceCents)
  const share = (category ? 1 / categories.length : 1) * (search ? 1 / 15 : 1) * priced
  return Math.max(0, productCount * share - (page - 1) * pageSize)
}

function browse(db: DatabaseSync, params: z.output<typeof browseParams>) {
  const { category = null, search = null, minPriceCents, maxPriceCents, sort, page, pageSize } = params
  const matches = `FROM products
    WHERE priceCents BETWEEN :minPriceCents AND :maxPriceCents
      AND (:category IS NULL OR category = :category)
      AND (:search IS NULL OR instr(lower(name), lower(:search)))`
  const filter = { category, search, minPriceCents, maxPriceCents }
  const { total } = db.prepare(`SELECT count(*) AS total ${matches}`).get(filter) as { total: number }
  const products = db
    .prepare(
      `SELECT id, name, category, priceCents, stock ${matches} ORDER BY ${order[sort]} LIMIT :limit OFFSET :offset`,
    )
    .all({ ...filter, limit: pageSize, offset: (page - 1) * pageSize })
  return { total, page, pages: Math.ceil(total / pageSize), products }
}

function purchase(db: DatabaseSync, params: z.output<typeof purchaseParams>, jobId: string) {
  // IMMEDIATE: two transactions that read first and then write would conflict.
  db.exec('BEGIN IMMEDIATE')
  try {
    const answer = placedOrder(db, jobId) ?? placeOrder(db, params, jobId)
    db.exec('COMMIT')
    return answer
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK')
  }
}

/** The order of an earlier attempt of the same job. */
function placedOrder(db: DatabaseSync, jobId: string) {
  return db
    .prepare(
      'SELECT id AS orderId, productId, quantity, totalCents, customer, placedAt FROM orders WHERE job = ?',
    )
    .get(jobId)
}

function placeOrder(db: DatabaseSync, params: z.output<typeof purchaseParams>, jobId: string) {
  const { productId, quantity, customer } = params
  const product = db.prepare('SELECT priceCents, stock FROM products WHERE id = ?').get(productId) as
    | { priceCents: number; stock: number }
    | undefined
  if (!product) return problem(404, 'No such product', `Product ${productId} does not exist.`)
  if (product.stock < quantity) {
    return problem(
      409,
      'Out of stock',
      `Product ${productId} has ${product.stock} left; ${quantity} were requested.`,
    )
  }
  db.prepare('UPDATE products SET stock = stock - ? WHERE id = ?').run(quantity, productId)
  db.prepare(
    'INSERT INTO orders (job, productId, quantity, totalCents, customer) VALUES (?, ?, ?, ?, ?)',
  ).run(jobId, productId, quantity, product.priceCents * quantity, customer)
  return placedOrder(db, jobId)
}

function problem(status: number, title: string, detail: string) {
  return reply({ status, title, detail }, { status, contentType: 'application/problem+json' })
}
