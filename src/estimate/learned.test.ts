import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Random, stream } from '../lib/random.ts'
import type { Features } from '../model/estimate.ts'
import type { Question } from './estimator.ts'
import type { Model } from './learned/fit.ts'
import { type Fitter, inlineFitter } from './learned/fitter.ts'
import { type Learned, learned } from './learned.ts'
import { question } from './testing/question.ts'

// A fixed seed: every run checks the same cases.
fc.configureGlobal({ seed: 1 })

const make = (): Learned => learned({ fitter: inlineFitter(), posts: 64 })

async function teach(rule: Learned, asked: Question, value: number): Promise<void> {
  rule.learn(asked, value)
  await rule.settled()
}

function medianError(rule: Learned, cases: readonly [Question, number][]): number {
  const errors = cases.map(([asked, value]) => Math.exp(Math.abs(Math.log(rule.guess(asked)!.value / value))))
  return errors.toSorted((a, b) => a - b)[errors.length >> 1]!
}

/** Costs of an imaginary renderer. */
function rendering(random: Random, factor = 1): [Features, number] {
  const width = Math.round(10 * 100 ** random.next())
  const samples = Math.round(2 ** (10 * random.next()))
  const quality = random.next() < 0.5 ? 'draft' : 'final'
  const work = factor * (5000 + width * width * (quality === 'final' ? samples * 20 : 30))
  return [{ width, samples, quality, seed: random.below(1e9) }, work * Math.exp(0.02 * random.normal())]
}

async function teachRendering(
  rule: Learned,
  random: Random,
  rows: number,
  factor = 1,
  ask = question,
): Promise<void> {
  for (let i = 0; i < rows; i++) {
    const [features, work] = rendering(random, factor)
    await teach(rule, ask(features), work)
  }
}

function unseenRendering(random: Random, count: number, factor = 1, ask = question): [Question, number][] {
  return Array.from({ length: count }, () => {
    const [features, work] = rendering(random, factor)
    return [ask(features), work]
  })
}

test('has no guess before it has learned anything', () => {
  assert.equal(make().guess(question({ n: 1 })), undefined)
})

test('learns the dependence of cost on features from 100 requests', async () => {
  const random = stream(1, 'rendering')
  const rule = make()
  await teachRendering(rule, random, 100)
  const unseen = unseenRendering(random, 100)
  assert.ok(medianError(rule, unseen) < 1.2, `${medianError(rule, unseen)}`)
  const { source, reason } = rule.guess(unseen[0]![0])!
  assert.equal(source, 'model')
  assert.equal(reason.code, 'learned')
})

test('outliers by a factor of a million change little', async () => {
  const random = stream(2, 'rendering')
  const [clean, poisoned] = [make(), make()]
  for (let i = 0; i < 80; i++) {
    const [features, work] = rendering(random)
    await teach(clean, question(features), work)
    await teach(poisoned, question(features), i % 40 === 17 ? work * 1e6 : work)
  }
  const unseen = unseenRendering(random, 50)
  const [worse, usual] = [medianError(poisoned, unseen), medianError(clean, unseen)]
  assert.ok(worse < 1.15 * usual, `${worse} instead of ${usual}`)
})

test('new code starts from the old model and soon learns its own costs', async () => {
  const random = stream(3, 'rendering')
  const rule = make()
  await teachRendering(rule, random, 100)
  const [features] = rendering(random)
  const before = rule.guess(question(features))!.value
  const newer = (features: Features = {}) => question(features, { codeHash: 'newer' })
  assert.equal(rule.guess(newer(features))!.value, before)
  await teachRendering(rule, random, 12, 3, newer)
  const unseen = unseenRendering(random, 50, 3, newer)
  assert.ok(medianError(rule, unseen) < 1.3, `${medianError(rule, unseen)}`)
})

test('a change of costs without a change of code is detected', async () => {
  const random = stream(4, 'rendering')
  const rule = make()
  await teachRendering(rule, random, 90)
  await teachRendering(rule, random, 60, 2)
  const unseen = unseenRendering(random, 50, 2)
  assert.ok(medianError(rule, unseen) < 1.3, `${medianError(rule, unseen)}`)
})

test('beyond the measured range, estimates do not fall and intervals widen', async () => {
  const random = stream(5, 'sizes')
  const rule = make()
  for (let i = 0; i < 60; i++) {
    const size = Math.round(10 * 100 ** random.next())
    await teach(rule, question({ size }), size ** 1.5 * Math.exp(0.05 * random.normal()))
  }
  const guesses = [1e3, 3e3, 1e4, 1e5, 1e6, 1e9].map((size) => rule.guess(question({ size }))!)
  for (const [i, { value, spread }] of guesses.slice(1).entries()) {
    assert.ok(value >= guesses[i]!.value, `${value} after ${guesses[i]!.value}`)
    assert.ok(spread!.above >= guesses[i]!.spread!.above)
  }
  assert.ok(guesses.at(-1)!.spread!.above > 3 * guesses[0]!.spread!.above)
})

test('below the measured range, estimates stay near the cheapest request', async () => {
  const rule = make()
  // The cost falls with the eighth power of the size, as if there were no fixed part.
  for (let size = 100; size <= 140; size++) await teach(rule, question({ size }), size ** 8)
  assert.ok(rule.guess(question({ size: 1 }))!.value > 100 ** 8 / 100)
})

test('an unknown category and a missing feature are assumed to be average', async () => {
  const random = stream(6, 'rendering')
  const rule = make()
  await teachRendering(rule, random, 60)
  const usual = rule.guess(question({ width: 100, samples: 30, quality: 'final', seed: 1 }))!
  const odd = rule.guess(question({ width: 100, samples: 30, quality: 'sketch' }))!
  assert.ok(odd.value > usual.value / 100 && odd.value < usual.value * 100, `${odd.value} ${usual.value}`)
  assert.ok(odd.spread!.above >= usual.spread!.above, `${odd.spread!.above} ${usual.spread!.above}`)
})

test('a restored model gives about the same estimates', async () => {
  const random = stream(7, 'rendering')
  let saved: { codeHash: string; model: Model } | undefined
  const made = (codeHash: string, model: Model) => {
    saved = { codeHash, model }
  }
  const [first, second] = [learned({ fitter: inlineFitter(), posts: 64, made }), make()]
  await teachRendering(first, random, 40)
  second.restore(saved!.codeHash, saved!.model)
  const [features] = rendering(random)
  const guessed = second.guess(question(features))!
  assert.ok(Math.abs(Math.log(guessed.value / first.guess(question(features))!.value)) < 0.1)
})

const number = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: -3, max: 1000 }) },
  fc.double(),
  fc.constantFrom(0, -0, Number.NaN, Infinity, -Infinity, 5e-324, Number.MAX_VALUE, -1e308, 2 ** 53),
)
const features = fc
  .array(fc.tuple(fc.constantFrom('a', 'b', 'c', '__proto__'), fc.oneof(number, fc.boolean(), fc.string())))
  .map((pairs) => Object.fromEntries(pairs) as Features)
const value = fc.oneof(fc.double({ min: 1, max: 1e9, noNaN: true }), number)

test('a guess is finite and above 0, whatever it has learned', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(features, value), { maxLength: 25, size: 'max' }), async (rows) => {
      const rule = learned({ fitter: inlineFitter(), posts: 8 })
      for (const [features, value] of rows) {
        await teach(rule, question(features), value)
        const guess = rule.guess(question(features))
        if (!guess) continue
        assert.ok(guess.value > 0 && guess.value < Infinity, `${guess.value}`)
        const { below, above } = guess.spread!
        assert.ok(below > 0 && below < Infinity && above > 0 && above < Infinity, `${below} ${above}`)
      }
    }),
    { numRuns: 60 },
  )
})

test('a closed fitter is not asked repeatedly', async () => {
  let asked = 0
  const closed: Fitter = {
    fit: async () => {
      asked++
      return undefined
    },
    close: async () => {},
  }
  const rule = learned({ fitter: closed })
  for (let n = 1; n <= 10; n++) await teach(rule, question({ n }), n)
  await rule.settled()
  assert.ok(asked >= 1 && asked <= 10, `asked ${asked} times`)
})
