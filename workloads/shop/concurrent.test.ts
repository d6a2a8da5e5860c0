/** Several processes that use one shop concurrently, some of them paused or killed. */

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { share } from '../../test/support/thorough.ts'
import type { Errand, News } from './buyer.ts'

interface Order {
  orderId: number
  quantity: number
}

/** Stock of a new shop, by product. */
const stock = { 1: 38, 2: 75 }

/** A folder without a shop and processes ready to use it; both are removed after the test. */
async function market(t: TestContext, buyers: number) {
  const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-shop-'))
  const processes = Array.from({ length: buyers }, () => fork(join(import.meta.dirname, 'buyer.ts')))
  t.after(async () => {
    await Promise.all(
      processes.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return
        const gone = once(child, 'exit')
        child.kill('SIGKILL')
        await gone
      }),
    )
    rmSync(dataDir, { recursive: true })
  })
  await Promise.all(processes.map((child) => once(child, 'message')))

  const people = processes.map((child) => {
    const news = async () => ((await once(child, 'message')) as [News])[0]
    const say = (message: Errand | 'go on') => {
      const heard = news()
      child.send(message)
      return heard
    }
    const purchase = (
      productId: number,
      jobId: string,
      options: Partial<Errand> & { quantity?: number } = {},
    ) => {
      const { quantity = 1, ...errand } = options
      const params = { action: 'purchase', productId, quantity, customer: `process ${child.pid}` }
      return say({ dataDir, jobId, params, gated: false, ...errand })
    }
    return { child, say, purchase }
  })
  return { dataDir, people, query: (sql: string) => query(dataDir, sql) }
}

/** Reads the shop's tables. */
function query(dataDir: string, sql: string): Record<string, number>[] {
  const db = new DatabaseSync(join(dataDir, 'shop.db'), { readOnly: true })
  try {
    return db.prepare(sql).all() as Record<string, number>[]
  } finally {
    db.close()
  }
}

function answerOf(news: News): Order | { status: number } {
  assert.ok(typeof news === 'object' && 'answer' in news, JSON.stringify(news))
  return news.answer as Order | { status: number }
}

test('concurrent creation gives one shop and leaves no draft', async (t) => {
  const { dataDir, people } = await market(t, 4)
  // Several shops, because the race differs each time.
  for (let round = 0; round < share(20); round++) {
    const newDir = join(dataDir, `shop-${round}`)
    const files = new Set<number>()
    const answers = await Promise.all(
      people.map(async ({ purchase }, i) => {
        const news = await purchase(5, `first-${i}`, { dataDir: newDir })
        files.add(statSync(join(newDir, 'shop.db')).ino)
        return news
      }),
    )
    assert.equal(files.size, 1, 'a shop in use was replaced')
    const orderIds = answers.map((news) => (answerOf(news) as Order).orderId)
    assert.deepEqual(orderIds.toSorted(), [1, 2, 3, 4])
    assert.deepEqual(query(newDir, 'SELECT count(*) AS n FROM products')[0]?.n, 5000)
    const others = readdirSync(newDir).filter((file) => !/^shop\.db(-wal|-shm)?$/.test(file))
    assert.deepEqual(others, [])
  }
})

test('concurrent purchases never oversell a product', async (t) => {
  const { people, query } = await market(t, 4)
  let sold = 0
  let refused = 0
  await Promise.all(
    people.map(async ({ purchase }, person) => {
      for (let i = 0; i < 15; i++) {
        const answer = answerOf(await purchase(1, `job-${person}-${i}`, { quantity: 1 + (i % 3) }))
        if ('orderId' in answer) sold += answer.quantity
        else {
          assert.equal(answer.status, 409)
          refused++
        }
      }
    }),
  )
  const left = query('SELECT stock FROM products WHERE id = 1')[0]?.stock
  const orders = query('SELECT count(*) AS n, sum(quantity) AS units FROM orders')[0]
  assert.equal(left, 0)
  assert.equal(sold, stock[1])
  assert.equal(orders?.units, stock[1])
  assert.equal(Number(orders?.n) + refused, 60)
})

test('concurrent attempts of the same job place one order, which all return', async (t) => {
  const { people, query } = await market(t, 4)
  for (let job = 0; job < 15; job++) {
    const answers = await Promise.all(people.map(({ purchase }) => purchase(2, `job-${job}`)))
    const orders = answers.map(answerOf)
    for (const order of orders) assert.deepEqual(order, orders[0])
  }
  assert.equal(query('SELECT count(*) AS n FROM orders')[0]?.n, 15)
  assert.equal(query('SELECT stock FROM products WHERE id = 2')[0]?.stock, stock[2] - 15)
})

test('a process stopped outside its uninterrupted part blocks no other', async (t) => {
  const { people, query } = await market(t, 2)
  const [stopped, other] = people
  assert.ok(stopped && other)
  let news = await stopped.purchase(3, 'stopped', { gated: true })
  for (const gate of ['before', 'after'] as const) {
    assert.deepEqual(news, { gate })
    stopped.child.kill('SIGSTOP')
    assert.ok('orderId' in answerOf(await other.purchase(3, `while stopped ${gate}`)))
    stopped.child.kill('SIGCONT')
    news = await stopped.say('go on')
  }
  assert.ok('orderId' in answerOf(news))
  assert.equal(query('SELECT count(*) AS n FROM orders')[0]?.n, 3)
})

test('a job whose process was killed can be retried, whether it had ordered or not', async (t) => {
  const { people, query } = await market(t, 3)
  const [early, late, retry] = people
  assert.ok(early && late && retry)
  assert.deepEqual(await early.purchase(4, 'killed early', { gated: true }), { gate: 'before' })
  assert.deepEqual(await late.purchase(4, 'killed late', { gated: true }), { gate: 'before' })
  assert.deepEqual(await late.say('go on'), { gate: 'after' })
  for (const { child } of [early, late]) {
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  const placed = query('SELECT id FROM orders')
  assert.equal(placed.length, 1)
  const again = answerOf(await retry.purchase(4, 'killed late'))
  assert.ok('orderId' in again && again.orderId === placed[0]?.id)
  assert.ok('orderId' in answerOf(await retry.purchase(4, 'killed early')))
  assert.equal(query('SELECT count(*) AS n FROM orders')[0]?.n, 2)
})
