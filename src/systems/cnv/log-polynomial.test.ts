import assert from 'node:assert/strict'
import { test } from 'node:test'
import { question } from '../../estimate/testing/question.ts'
import { type Random, stream } from '../../lib/random.ts'
import type { Features } from '../../model/estimate.ts'
import { logPolynomial } from './log-polynomial.ts'

const whole = (random: Random, least: number, most: number) =>
  Math.round(least * (most / least) ** random.next())

/** Learns random requests, then returns the median of max(guess ÷ actual, actual ÷ guess) over others. */
function medianError(rows: number, make: (random: Random) => [Features, number], rule = logPolynomial()) {
  const random = stream(1, 'requests')
  for (let i = 0; i < rows; i++) {
    const [features, value] = make(random)
    rule.learn(question(features), value)
  }
  const errors = Array.from({ length: 99 }, () => {
    const [features, actual] = make(random)
    const { value } = rule.guess(question(features))!
    return Math.max(value / actual, actual / value)
  })
  return errors.sort((a, b) => a - b)[49]!
}

const power = (random: Random): [Features, number] => {
  const size = whole(random, 10, 1000)
  const steps = whole(random, 10, 1000)
  const kind = random.next() < 0.5 ? 'slow' : 'quick'
  return [{ size, steps, kind }, size ** 2 * steps * (kind === 'slow' ? 40 : 3)]
}

test('CN-4 the same request is known exactly', () => {
  const rule = logPolynomial()
  rule.learn(question({ n: 3 }), 77)
  assert.equal(rule.guess(question({ n: 3 }))?.source, 'memo')
})

test('CN-4 before there are enough rows the guess is the geometric mean', () => {
  const rule = logPolynomial()
  assert.equal(rule.guess(question({ n: 1 })), undefined)
  for (const n of [1, 2, 3]) rule.learn(question({ n }), 10 ** n)
  const { value, reason } = rule.guess(question({ n: 9 }))!
  assert.ok(Math.abs(value - 100) < 1e-6)
  assert.equal(reason.code, 'geometric-mean')
})

test('CN-4 powers of numbers and factors of categories are learned from a few rows', () => {
  const error = medianError(12, power)
  assert.ok(error < 1.1, String(error))
})

test('CN-4 curves in logarithms are learned by the second degree', () => {
  const rule = logPolynomial()
  const bent = (random: Random): [Features, number] => {
    const n = whole(random, 1, 10_000)
    return [{ n }, Math.exp(0.2 * Math.log(n) ** 2)]
  }
  const error = medianError(60, bent, rule)
  assert.ok(error < 1.01, String(error))
  const { source, reason } = rule.guess(question({ n: 0.5 }))!
  assert.equal(source, 'model')
  assert.deepEqual(reason, { code: 'log-polynomial', degree: 2, rows: 60 })
})

test('CN-4 a model is rebuilt when its rows have grown by a tenth', () => {
  const rule = logPolynomial()
  const rowsOf = () => rule.guess(question({ n: 0.5 }))!.reason.rows
  for (let n = 1; n <= 100; n++) rule.learn(question({ n }), n)
  assert.equal(rowsOf(), 100)
  for (let n = 101; n < 110; n++) rule.learn(question({ n }), n)
  assert.equal(rowsOf(), 100)
  rule.learn(question({ n: 110 }), 110)
  assert.equal(rowsOf(), 110)
})

test('only the newest rows count, so that a change of costs is followed', () => {
  const rule = logPolynomial({ rows: 50 })
  for (let n = 1; n <= 50; n++) rule.learn(question({ n }), n)
  for (let n = 1.5; n <= 51; n++) rule.learn(question({ n }), 100 * n)
  const { value, reason } = rule.guess(question({ n: 20 }, { key: 'another' }))!
  assert.ok(Math.abs(value - 2000) < 20, String(value))
  assert.equal(reason.rows, 50)
})

test('a guess outside the observed range stays within a factor of a thousand', () => {
  const rule = logPolynomial()
  const random = stream(1, 'far')
  for (let i = 0; i < 100; i++) {
    const [features, value] = power(random)
    rule.learn(question(features), value)
  }
  const { value } = rule.guess(question({ size: 1e200, steps: 1e200, kind: 'slow' }))!
  assert.ok(value > 1e9 && value <= 40 * 1000 ** 3 * 1001)
})

test('zeros, negatives, missing and new features do not affect the others', () => {
  const odd = (random: Random): [Features, number] => {
    const [features, value] = power(random)
    const shift = [0, -3, 5][random.below(3)]!
    if (random.next() < 0.5) return [{ ...features, shift }, shift === 0 ? value * 7 : value]
    return [features, value / 2]
  }
  const error = medianError(200, odd)
  assert.ok(error < 1.1, String(error))
  const rule = logPolynomial()
  const random = stream(1, 'new')
  for (let i = 0; i < 50; i++) rule.learn(question(power(random)[0]), 1000 + i)
  assert.ok(rule.guess(question({ unheard: 'of', size: 0, steps: Number.NaN }))!.value > 0)
})

test('the spread is that of the residuals', () => {
  const rule = logPolynomial()
  const noisy = (random: Random): [Features, number] => {
    const [features, value] = power(random)
    return [features, value * Math.exp(0.3 * random.normal())]
  }
  medianError(500, noisy, rule)
  const { spread } = rule.guess(question({ size: 50, steps: 50, kind: 'quick' }, { key: 'another' }))!
  assert.ok(Math.abs(spread!.above - 0.3) < 0.05, JSON.stringify(spread))
})
