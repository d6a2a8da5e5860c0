import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Random, stream } from './random.ts'

// A fixed seed: the same cases in every run.
fc.configureGlobal({ seed: 1 })

const draws = (random: Random, count = 50) => Array.from({ length: count }, () => random.next())
const meanOf = (draw: () => number, count = 200_000) => {
  let sum = 0
  for (let i = 0; i < count; i++) sum += draw()
  return sum / count
}
const near = (actual: number, expected: number, tolerance: number) =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual} is not ${expected} ± ${tolerance}`)

test('draws are reproducible for a seed and purpose', () => {
  assert.deepEqual(draws(stream(7, 'sizes')), draws(stream(7, 'sizes')))
})

test('different seeds give different draws, even if they differ only above 32 bits', () => {
  const first = [0, 1, 2, -1, 2 ** 32, 2 ** 40 + 1].map((seed) => draws(stream(seed, 'sizes'), 3).join())
  assert.equal(new Set(first).size, first.length)
})

test('streams of different purposes are independent', () => {
  const sizes = stream(1, 'sizes')
  const arrivals = stream(1, 'arrivals')
  const alone = draws(stream(1, 'sizes'))
  const mixed = alone.map(() => {
    draws(arrivals, 3)
    return sizes.next()
  })
  assert.deepEqual(mixed, alone)
  assert.notDeepEqual(draws(stream(1, 'arrivals')), alone)
})

test('draws are uniform in [0, 1)', () => {
  const random = stream(3, 'test')
  for (const value of draws(random, 10_000)) assert.ok(value >= 0 && value < 1)
  near(meanOf(random.next), 0.5, 0.005)
})

test('integers below a bound are uniform', () => {
  const random = stream(4, 'test')
  const counts = [0, 0, 0, 0, 0]
  for (let i = 0; i < 50_000; i++) counts[random.below(5)]!++
  for (const count of counts) near(count, 10_000, 500)
})

test('normal and exponential draws have the right mean and deviation', () => {
  const random = stream(5, 'test')
  near(meanOf(random.normal), 0, 0.01)
  near(
    meanOf(() => random.normal() ** 2),
    1,
    0.02,
  )
  near(meanOf(random.exponential), 1, 0.01)
  near(
    meanOf(() => random.exponential() ** 2),
    2,
    0.06,
  )
})
