import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stream } from '../lib/random.ts'
import { etaOf } from './documents.ts'
import { Etas } from './etas.ts'

const quoteOf = (seconds: number, waitSeconds: number) => ({
  seconds: { low: seconds / 2, expected: seconds, high: seconds * 2 },
  waitSeconds,
})

test('without experience a job ends by its quote', () => {
  const quote = new Etas().addTo(quoteOf(10, 5))
  assert.deepEqual(etaOf({ acceptedAt: 0, quote }), {
    earliest: '1970-01-01T00:00:05.000Z',
    expected: '1970-01-01T00:00:15.000Z',
    latest: '1970-01-01T00:00:25.000Z',
  })
})

test('a quote without times gives no time', () => {
  const quote = { work: 5, waitSeconds: null }
  assert.equal(new Etas().addTo(quote), quote)
  assert.equal(etaOf({ acceptedAt: 0, quote }), undefined)
  assert.equal(etaOf({ acceptedAt: 0, quote: null }), undefined)
})

test('nine of ten jobs end inside their intervals, although they take longer than expected', () => {
  const random = stream(1, 'etas')
  const etas = new Etas()
  let inside = 0
  const [warmup, jobs] = [300, 2_000]
  for (let i = 0; i < warmup + jobs; i++) {
    const size = Math.exp(2 * random.normal())
    // Larger jobs are overtaken more often.
    const took = size * Math.exp(0.3 * random.normal()) * (1 + Math.log1p(size) * (1 + random.exponential()))
    const quote = etas.addTo(quoteOf(size, size / 10)) as { doneSeconds: { low: number; high: number } }
    if (i >= warmup && took >= quote.doneSeconds.low && took <= quote.doneSeconds.high) inside++
    etas.learn({ acceptedAt: 1_000, quote }, 1_000 + took * 1_000)
  }
  assert.ok(inside > 0.88 * jobs && inside < 0.96 * jobs, `${inside} of ${jobs}`)
})

test('a clock that was set back teaches nothing', () => {
  const etas = new Etas()
  const quote = quoteOf(10, 0)
  for (let i = 0; i < 50; i++) etas.learn({ acceptedAt: 1e12, quote }, 0)
  assert.deepEqual(etas.addTo(quote), { ...quote, doneSeconds: { low: 5, expected: 10, high: 20 } })
})
