/** The demo succeeds, detects faults, and leaves nothing behind. */

import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { checkBrowse, checkFactors, checkPicture, checkPurchase } from './demo/checks.ts'
import type { Ending, Sent } from './demo/drive.ts'
import { drawLoad } from './demo/load.ts'
import { checkOrders } from './demo/orders.ts'
import { isPrime } from './demo/primes.ts'
import { figuresOf, refusalsOf, verdict } from './demo/report.ts'
import { start } from './testing/program.ts'

/** A separate folder for temporary files, so that leftovers are visible. */
function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-demo-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

test('an interrupted demo leaves nothing behind', async (t) => {
  const TMPDIR = scratch(t)
  const { process: child, ended, said } = start(['demo', '--seconds', '60'], { TMPDIR })
  await said(/ready at/)
  child.kill('SIGINT')
  const { code, stdout } = await ended
  assert.deepEqual([code, stdout], [130, ''])
  assert.deepEqual(readdirSync(TMPDIR), [])
})

test('draws the same requests for the same seed, some of each kind', () => {
  const draw = (seed: number) => drawLoad(seed, 4).map(({ kind, atMs, params }) => ({ kind, atMs, params }))
  assert.deepEqual(draw(7), draw(7))
  assert.notDeepEqual(draw(7), draw(8))
  assert.deepEqual(new Set(draw(7).map(({ kind }) => kind)).size, 4)
})

test('recognises wrong answers', () => {
  const json = (value: unknown) => Buffer.from(JSON.stringify(value))
  assert.equal(checkFactors(json({ n: '12', factors: ['2', '2', '3'] }), '12'), undefined)
  assert.match(checkFactors(json({ n: '12', factors: ['3', '4'] }), '12')!, /4 is not prime/)
  assert.match(checkFactors(json({ n: '12', factors: ['2', '3'] }), '12')!, /product .* is 6, not 12/)
  assert.match(checkFactors(json({ n: '13', factors: ['13'] }), '12')!, /not the factors of 12/)
  assert.match(checkFactors(Buffer.from('oops'), '12')!, /not the factors of 12/)
  assert.match(checkPicture(Buffer.alloc(100), 1, 1)!, /not a PNG/)
  const asked = { category: 'garden', pageSize: 2, minPriceCents: 100 }
  const product = { id: 1, name: 'spade', category: 'garden', priceCents: 200 }
  const page = { total: 1, page: 1, pages: 1, products: [product] }
  assert.equal(checkBrowse(json(page), asked), undefined)
  assert.match(checkBrowse(json({ ...page, products: [] }), asked)!, /0 products/)
  assert.match(
    checkBrowse(json({ ...page, products: [{ ...product, priceCents: 1 }] }), asked)!,
    /not asked for/,
  )
  const order = { productId: 1, quantity: 1, customer: 'Ada' }
  assert.equal(checkPurchase(json({ orderId: 1, ...order }), order), undefined)
  assert.match(checkPurchase(json({ orderId: 1, ...order, quantity: 2 }), order)!, /not what Ada asked for/)
})

test('the verdict accounts for every request', () => {
  const [request] = drawLoad(1, 4)
  const sent = (...endings: Ending[]): Sent[] =>
    endings.map((ending) => ({ request: request!, ending, trouble: '', job: '', attempts: 1, responseMs: 1 }))
  const all = (...endings: Ending[]) => verdict(figuresOf(sent(...endings)).at(-1)!, { placed: 1 })
  assert.equal(
    all('right', 'right', 'unknown', 'refused'),
    'Of 4 requests, 2 were answered correctly, 1 refused, 1 of unknown outcome, because their worker was killed and they ' +
      'must not be repeated; no order is missing or doubled; lost 0',
  )
  assert.equal(
    all('right', 'wrong', 'lost'),
    'Of 3 requests, 1 were answered correctly, 1 answered wrongly; lost 1',
  )
})

test('a refused request counts as refused, never as answered, and its reason is told', () => {
  const [request] = drawLoad(1, 4)
  const problem = (code: string, detail: string) =>
    `answered 503: ${JSON.stringify({ type: `urn:plimsoll:${code}`, status: 503, detail })}`
  const sent: Sent[] = [
    ['right', ''] as const,
    ['refused', problem('queue-timeout', 'It waited 20 s.')] as const,
    ['refused', problem('queue-timeout', 'It waited 20 s.')] as const,
    ['dropped', problem('dropped', 'It waited too long.')] as const,
    ['lost', 'socket hang up'] as const,
  ].map(([ending, trouble]) => ({ request: request!, ending, trouble, job: '', attempts: 1, responseMs: 1 }))
  const { answered, refused, dropped, lost } = figuresOf(sent).at(-1)!
  assert.deepEqual({ answered, refused, dropped, lost }, { answered: 1, refused: 2, dropped: 1, lost: 1 })
  assert.deepEqual(refusalsOf(sent), [
    '2 refused: queue-timeout, It waited 20 s.',
    '1 refused: dropped, It waited too long.',
  ])
})

test('a purchase whose orders do not match its answer is wrong', (t) => {
  const dataDir = scratch(t)
  const db = new DatabaseSync(join(dataDir, 'shop.db'))
  db.exec('CREATE TABLE orders (job TEXT, customer TEXT)')
  const purchases = drawLoad(1, 4).filter(({ kind }) => kind === 'purchase')
  // Answer, number of orders, and verdict.
  const cases: [Ending, number, Ending][] = [
    ['right', 1, 'right'],
    ['right', 0, 'wrong'],
    ['right', 2, 'wrong'],
    ['unknown', 0, 'unknown'],
    ['unknown', 1, 'unknown'],
    ['unknown', 2, 'wrong'],
    ['refused', 0, 'refused'],
    ['refused', 1, 'wrong'],
  ]
  const sent: Sent[] = cases.map(([ending, orders], i) => {
    const request = purchases[i]!
    for (let n = 0; n < orders; n++) {
      db.prepare('INSERT INTO orders VALUES (?, ?)').run(`job ${i}`, String(request.params.customer))
    }
    return { request, ending, trouble: '', job: `job ${i}`, attempts: 1, responseMs: 1 }
  })
  db.close()
  assert.deepEqual(checkOrders(dataDir, sent), { placed: 7, placedUnknown: 3 })
  assert.deepEqual(
    sent.map(({ ending }) => ending),
    cases.map(([, , found]) => found),
  )
})

test('recognises primes, and composites that pass weaker tests', () => {
  const primes = [2n, 3n, 41n, 43n, 7919n, 1_000_000_007n, 2n ** 61n - 1n]
  const others = [0n, 1n, 4n, 561n, 1681n, 3_215_031_751n, 3_825_123_056_546_413_051n, 2n ** 61n + 1n]
  assert.deepEqual([...primes, ...others].filter(isPrime), primes)
})
