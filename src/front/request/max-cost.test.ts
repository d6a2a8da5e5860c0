import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestProblem } from '../problem.ts'
import { checkedMs, maxCostOf, maxCpuMsOf } from './max-cost.ts'
import type { EstimatedRequest } from './request.ts'

const read = (text: string | undefined) =>
  maxCostOf({ headers: text === undefined ? {} : { 'plimsoll-max-cost': text } })
const quote = (low: number, price?: { low: number; expected: number }) => ({
  source: 'memo',
  seconds: { expected: 100, low, high: 1000 },
  ...(price && { price }),
})

test('the most that a request may cost is a CPU time or a price', () => {
  assert.equal(read(undefined), undefined)
  assert.deepEqual(read('90s'), { text: '90s', ms: 90_000 })
  assert.deepEqual(read(' 2.5ms '), { text: '2.5ms', ms: 2.5 })
  assert.deepEqual(read('price=0.02'), { text: 'price=0.02', price: 0.02 })
  assert.deepEqual(read('price=1e-6'), { text: 'price=1e-6', price: 0.000001 })
})

test('other values are refused with what is allowed', () => {
  for (const text of [
    '',
    '90',
    '-1s',
    '0s',
    'price=0',
    '1 s',
    '1h',
    '1e999s',
    'price=',
    '5s, 6s',
    'x'.repeat(200),
  ])
    assert.throws(() => read(text), {
      ...{ status: 400, code: 'bad-max-cost' },
      message: `plimsoll-max-cost = ${text.slice(0, 100)}: must be CPU time such as 90s or 500ms, or a price such as price=0.02, and more than 0.`,
    })
})

test('a request is refused if nearly all such requests cost more, with its quote', () => {
  const most = read('90s')!
  assert.equal(checkedMs(quote(90), most), 90_000)
  assert.throws(
    () => checkedMs(quote(91), most),
    (problem: RequestProblem) => {
      assert.deepEqual([problem.status, problem.code], [422, 'too-costly'])
      assert.equal(
        problem.message,
        'Nearly all such requests need more than 91 s of CPU time, and plimsoll-max-cost = 90s allows 90 s.',
      )
      assert.deepEqual(problem.fields, { maxCost: '90s', quote: quote(91) })
      return true
    },
  )
})

test('a request of which nothing is known runs, up to the limit', () => {
  assert.equal(checkedMs({ ...quote(91), source: 'prior' }, read('90s')!), 90_000)
})

test('a price is as much CPU time as it buys', () => {
  const priced = quote(50, { low: 0.5, expected: 1 })
  assert.equal(checkedMs(priced, read('price=0.75')!), 75_000)
  assert.throws(() => checkedMs(priced, read('price=0.25')!), { status: 422, code: 'too-costly' })
  assert.throws(() => checkedMs(quote(50), read('price=0.25')!), { status: 400, code: 'bad-max-cost' })
  assert.equal(checkedMs(quote(50, { low: 0, expected: 0 }), read('price=0.25')!), Infinity)
})

test('while the brain is away there is no quote: CPU time is limited all the same, and a price is refused', async () => {
  let discarded = 0
  const estimated = { body: { discard: () => discarded++ } } as unknown as EstimatedRequest
  const parts = { describeQuote: () => Promise.reject(new RequestProblem(503, 'no-brain', '')) }
  assert.equal(await maxCpuMsOf(parts, estimated, read('2s')!), 2000)
  assert.equal(discarded, 0)
  await assert.rejects(maxCpuMsOf(parts, estimated, read('price=1')!), { code: 'no-brain' })
  assert.equal(discarded, 1)
})
