/** The shop with one customer at a time, and rejected input. */

import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { fakeContext } from 'plimsoll/testing'
import shop from './shop.ts'
import { problems, readParams } from './testing/params.ts'

// A fixed seed: every run checks the same cases.
fc.configureGlobal({ seed: 1 })

const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-shop-'))
after(() => rmSync(dataDir, { recursive: true }))

interface Product {
  id: number
  name: string
  category: string
  priceCents: number
  stock: number
}
interface Page {
  total: number
  page: number
  pages: number
  products: Product[]
}

let jobs = 0
async function run(input: Record<string, unknown>, jobId = `job-${++jobs}`): Promise<unknown> {
  return await shop.run(readParams(shop, input), fakeContext({ dataDir, jobId }))
}
const browse = async (filter: Record<string, unknown> = {}) =>
  (await run({ action: 'browse', ...filter })) as Page

async function everything(): Promise<Product[]> {
  const all: Product[] = []
  for (let page = 1; page <= 50; page++) all.push(...(await browse({ page, pageSize: 100 })).products)
  return all
}

test('the catalogue has 5,000 products with unique names and leaves no draft', async () => {
  const all = await everything()
  assert.equal((await browse()).total, 5000)
  assert.equal(new Set(all.map(({ id }) => id)).size, 5000)
  assert.equal(new Set(all.map(({ name }) => name)).size, 5000)
  assert.deepEqual(
    readdirSync(dataDir).filter((file) => file.includes('draft')),
    [],
  )
})

test('every new shop has the same products', async () => {
  const other = mkdtempSync(join(tmpdir(), 'plimsoll-shop-'))
  try {
    const params = readParams(shop, { action: 'browse', category: 'music', pageSize: 100 })
    const there = await shop.run(params, fakeContext({ dataDir: join(other, 'deep', 'inside') }))
    assert.deepEqual(there, await browse({ category: 'music', pageSize: 100 }))
  } finally {
    rmSync(other, { recursive: true })
  }
})

test('a page agrees with a plain filter of all products', async () => {
  const all = await everything()
  const price = fc.integer({ min: 0, max: 25_000 })
  const filter = fc.record(
    {
      category: fc.constantFrom('kitchen', 'garden', 'office', 'sport', 'music'),
      search: fc.constantFrom('oak', 'OAK ket', 'banjo', 'n i', '%', '_', "'", 'é'),
      prices: fc.tuple(price, price),
      page: fc.integer({ min: 1, max: 5 }),
      pageSize: fc.integer({ min: 1, max: 100 }),
    },
    { requiredKeys: ['page', 'pageSize', 'prices'] },
  )
  await fc.assert(
    fc.asyncProperty(filter, async ({ category, search, prices, page, pageSize }) => {
      const [minPriceCents, maxPriceCents] = [Math.min(...prices), Math.max(...prices)]
      const expected = all
        .filter((product) => category === undefined || product.category === category)
        .filter(({ name }) => search === undefined || name.toLowerCase().includes(search.toLowerCase()))
        .filter(({ priceCents }) => priceCents >= minPriceCents && priceCents <= maxPriceCents)
      const found = await browse({
        ...(category && { category }),
        ...(search && { search }),
        ...{ minPriceCents, maxPriceCents, page, pageSize },
      })
      assert.equal(found.total, expected.length)
      assert.equal(found.pages, Math.ceil(expected.length / pageSize))
      assert.deepEqual(found.products, expected.slice((page - 1) * pageSize, page * pageSize))
    }),
  )
})

test('products are sorted as requested', async () => {
  const prices = async (sort: string) =>
    (await browse({ sort, category: 'garden', pageSize: 100 })).products.map(({ priceCents }) => priceCents)
  const rising = await prices('price')
  assert.deepEqual(
    rising,
    rising.toSorted((a, b) => a - b),
  )
  const falling = await prices('price-descending')
  assert.deepEqual(
    falling,
    falling.toSorted((a, b) => b - a),
  )
  const names = (await browse({ sort: 'name' })).products.map(({ name }) => name)
  assert.deepEqual(names, names.toSorted())
})

async function stockOf(name: string): Promise<Product> {
  return (await browse({ search: name })).products[0]!
}

test('a purchase lowers the stock and returns the order, once per job', async () => {
  const before = await stockOf('Amber oak kettle')
  const params = { action: 'purchase', productId: before.id, quantity: '2', customer: ' Ada ' }
  const order = (await run(params, 'kettle')) as Record<string, unknown>
  assert.equal(order.customer, 'Ada')
  assert.equal(order.quantity, 2)
  assert.equal(order.totalCents, before.priceCents * 2)
  assert.deepEqual(await run(params, 'kettle'), order)
  assert.equal((await stockOf('Amber oak kettle')).stock, before.stock - 2)
})

test('a purchase beyond the stock is rejected with 409 and changes nothing', async () => {
  const { id, stock } = await stockOf('Amber brass lamp')
  const params = { action: 'purchase', productId: id, customer: 'Ada' }
  await run({ ...params, quantity: stock - 1 })
  const detail = `Product ${id} has 1 left; 2 were requested.`
  const refusal = (await run({ ...params, quantity: 2 }, 'refused')) as { status: number; body: unknown }
  assert.equal(refusal.status, 409)
  assert.deepEqual(refusal.body, { status: 409, title: 'Out of stock', detail })
  assert.equal((await stockOf('Amber brass lamp')).stock, 1)
  const order = (await run({ ...params, quantity: 1 }, 'refused')) as { quantity: number }
  assert.equal(order.quantity, 1)
})

test('an unknown product is rejected with 404', async () => {
  const refusal = (await run({ action: 'purchase', productId: 5001, customer: 'Ada' })) as { status: number }
  assert.equal(refusal.status, 404)
})

test('no lock is held outside ctx.uninterrupted', async () => {
  const other = new DatabaseSync(join(dataDir, 'shop.db'), { timeout: 0 })
  const write = () => other.exec('BEGIN EXCLUSIVE; ROLLBACK')
  try {
    const ctx = fakeContext({
      dataDir,
      jobId: 'watched',
      uninterrupted: async (fn) => {
        write()
        const answer = await fn()
        write()
        return answer
      },
    })
    await shop.run(readParams(shop, { action: 'browse' }), ctx)
    await shop.run(readParams(shop, { action: 'purchase', productId: 1, customer: 'Ada' }), ctx)
    await shop.run(readParams(shop, { action: 'purchase', productId: 9999, customer: 'Ada' }), ctx)
  } finally {
    other.close()
  }
})

test('only browsing is safe to repeat', () => {
  const safe = shop.safeToRepeat as (params: unknown) => boolean
  assert.equal(safe(readParams(shop, { action: 'browse' })), true)
  assert.equal(safe(readParams(shop, { action: 'purchase', productId: 1, customer: 'Ada' })), false)
})

test('a missing or unknown action is rejected with the known actions', () => {
  assert.equal(problems(shop, {}), 'action: missing: must be one of browse, purchase')
  assert.equal(problems(shop, { action: 'steal' }), 'action: must be one of browse, purchase, not "steal"')
  assert.match(problems(shop, null), /expected object/)
})

const allowed = {
  browse: {
    category: 'one of kitchen, garden, office, sport, music',
    search: 'text of 1 to 100 characters',
    minPriceCents: 'a whole number from 0 to 100000000',
    maxPriceCents: 'a whole number from 0 to 100000000',
    sort: 'one of name, price, price-descending',
    page: 'a whole number from 1 to 1000000',
    pageSize: 'a whole number from 1 to 100',
  },
  purchase: {
    productId: 'a whole number from 1 to 9007199254740991',
    quantity: 'a whole number from 1 to 100',
    customer: 'text of 1 to 100 characters',
  },
}

test('invalid parameters are rejected with the allowed values', () => {
  const good = { browse: {}, purchase: { productId: 1, customer: 'Ada' } }
  for (const action of ['browse', 'purchase'] as const) {
    for (const [name, range] of Object.entries(allowed[action])) {
      for (const value of ['', true, null, [], {}, -1, 1.5, 1e300]) {
        const said = `${name}: must be ${range}, not ${typeof value === 'number' ? value : JSON.stringify(value)}`
        assert.equal(problems(shop, { action, ...good[action], [name]: value }), said)
      }
    }
    const names = ['action', ...Object.keys(allowed[action])].join(', ')
    assert.equal(problems(shop, { action, ...good[action], colour: 1 }), `unknown: colour; allowed: ${names}`)
  }
  assert.match(problems(shop, { action: 'browse', search: 'x'.repeat(101) }), /text of 1 to 100 characters/)
  const crossed = { action: 'browse', minPriceCents: 5, maxPriceCents: 4 }
  assert.equal(problems(shop, crossed), 'minPriceCents: must not be above maxPriceCents')
  const missing = [
    `productId: missing: must be ${allowed.purchase.productId}`,
    `customer: missing: must be ${allowed.purchase.customer}`,
  ]
  assert.equal(problems(shop, { action: 'purchase' }), missing.join('\n'))
})

test('the charge for database work is the same for equal requests', async () => {
  const charged: number[] = []
  const context = () =>
    fakeContext({ dataDir, jobId: 'charged', charge: (units) => void charged.push(units) })
  for (const input of [{ action: 'browse' }, { action: 'browse' }, { action: 'browse', pageSize: 100 }]) {
    await shop.run(readParams(shop, input), context())
  }
  await shop.run(readParams(shop, { action: 'purchase', productId: 9, customer: 'Ada' }), context())
  const [first, second, larger, purchase] = charged
  assert.equal(first, second)
  assert.ok(larger! > first! && first! > purchase! && purchase! > 0, `${charged}`)
})

test('features include the action and the approximate number of products', () => {
  const features = (params: Record<string, unknown>) =>
    shop.features!(readParams(shop, params), { bytes: 0, head: new Uint8Array() })
  assert.deepEqual(features({ action: 'purchase', productId: 3, customer: 'Ada' }), {
    action: 'purchase',
    products: 1,
  })
  assert.deepEqual(features({ action: 'browse' }), { action: 'browse', products: 20 })
  assert.equal(features({ action: 'browse', category: 'music', page: 60 }).products, 0)
  assert.equal(features({ action: 'browse', minPriceCents: 50_000 }).products, 0)
})
