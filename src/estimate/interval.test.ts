import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stream } from '../lib/random.ts'
import type { Guess } from './estimator.ts'
import { Intervals } from './interval.ts'

function guess(value: number, spread?: Guess['spread'], code = 'rule'): Guess {
  return { value, source: 'model', reason: { code }, ...(spread && { spread }) }
}

const holds = ({ low, high }: { low: number; high: number }, actual: number) =>
  low <= actual && actual <= high

test('an interval without history is wide and contains the guess', () => {
  const { low, high } = new Intervals().around(guess(1000))
  assert.ok(low <= 10 && high >= 100_000)
})

test('about 90 % of actual costs lie in the interval, also for skewed costs', () => {
  const random = stream(1, 'costs')
  const intervals = new Intervals()
  const rounds = 4000
  let [inside, below, above] = [0, 0, 0]
  for (let i = 0; i < rounds; i++) {
    const actual = 100 * random.exponential() + 1
    const asked = guess(70)
    const interval = intervals.around(asked)
    if (i >= 200) {
      if (holds(interval, actual)) inside++
      else if (actual < interval.low) below++
      else above++
    }
    intervals.learn(asked, actual)
  }
  const share = inside / (rounds - 200)
  assert.ok(share > 0.88 && share < 0.94, `${share}`)
  assert.ok(below > 80 && above > 80, `${below} below, ${above} above`)
})

test('cheap and expensive requests have separate intervals', () => {
  const random = stream(2, 'costs')
  const intervals = new Intervals()
  const draw = () => {
    const dear = random.next() < 0.5
    return {
      value: dear ? 1e6 : 10,
      actual: (dear ? 1e6 : 10) * Math.exp((dear ? 1 : 0.01) * random.normal()),
    }
  }
  for (let i = 0; i < 400; i++) {
    const { value, actual } = draw()
    intervals.learn(guess(value), actual)
  }
  const [cheap, dear] = [intervals.around(guess(10)), intervals.around(guess(1e6))]
  assert.ok(cheap.high / cheap.low < 1.1, `${cheap.high / cheap.low}`)
  assert.ok(dear.high / dear.low > 10, `${dear.high / dear.low}`)
})

test('what a rule says of its own doubts sets the width', () => {
  const random = stream(3, 'costs')
  const intervals = new Intervals()
  for (let i = 0; i < 400; i++) {
    const spread = i % 2 === 0 ? 0.01 : 1
    intervals.learn(guess(100, { below: spread, above: spread }), 100 * Math.exp(spread * random.normal()))
  }
  const width = (spread: number) => {
    const { low, high } = intervals.around(guess(100, { below: spread, above: spread }))
    return Math.log(high / low)
  }
  assert.ok(Math.abs(width(1) / width(0.01) - 100) < 1)
})

test('the first measurement of a model that was fitted to many others leaves its interval as wide as it was', () => {
  const intervals = new Intervals()
  const settled = (value: number): Guess => ({
    ...guess(value, { below: 2, above: 2 }),
    reason: { code: 'learned', rows: 400 },
  })
  const before = intervals.around(settled(100))
  intervals.learn(settled(100), 100 * Math.exp(2))
  assert.deepEqual(intervals.around(settled(100)), before)
  intervals.learn(settled(100), 100 * Math.exp(8))
  const after = intervals.around(settled(100))
  assert.ok(holds(after, 100 * Math.exp(8)) && after.high < 100 * Math.exp(8.1), `${after.high}`)
})

test('each rule has its own history', () => {
  const intervals = new Intervals()
  for (let i = 0; i < 100; i++) {
    intervals.learn(guess(100, undefined, 'good'), 100)
    intervals.learn(guess(100, undefined, 'bad'), i % 2 ? 1 : 10_000)
  }
  const { low, high } = intervals.around(guess(100, undefined, 'good'))
  assert.ok(high / low < 1.01)
})

test('invalid measurements are not learned from', () => {
  const intervals = new Intervals()
  for (const actual of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) intervals.learn(guess(100), actual)
  const { low, high } = intervals.around(guess(100))
  assert.ok(low <= 1 && high >= 10_000)
})
