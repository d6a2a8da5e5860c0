/** Properties of every rule, for any input. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { share } from '../../test/support/thorough.ts'
import { chain } from '../estimate/chain.ts'
import { constant } from '../estimate/constant.ts'
import type { Question, Rule } from '../estimate/estimator.ts'
import { memo } from '../estimate/memo.ts'
import { priorMemory, priorWork } from '../estimate/prior.ts'
import type { Features } from '../model/estimate.ts'
import { rankMemo } from './cloudprime/rank-memo.ts'
import { logPolynomial } from './cnv/log-polynomial.ts'
import { slopes } from './ecowork/slopes.ts'
import { similarRequests } from './hillclimbing/similar-requests.ts'

// The same cases in every run, so that a failure is reproducible.
fc.configureGlobal({ seed: 1 })

const rules: Record<string, () => Rule> = {
  memo,
  rankMemo,
  similarRequests,
  'similarRequests with a default': () => similarRequests({ unknown: 2e8, rows: 7 }),
  slopes,
  logPolynomial: () => logPolynomial({ rows: 40 }),
  constant,
  priorWork: () => priorWork(1e5),
  priorMemory,
  chain: () => chain(memo(), slopes(), constant(), priorMemory()),
}

const number = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: -3, max: 1000 }) },
  fc.double(),
  fc.constantFrom(0, -0, NaN, Infinity, -Infinity, 5e-324, 1.7976931348623157e308, -1e308, 2 ** 53),
)
const feature = fc.oneof(number, number, fc.boolean(), fc.string(), fc.constantFrom('a', 'b', '12', '1e999'))
const names = [
  ...['n', 'size', 'kind', '__proto__', 'constructor', 'habitat', 'generations', 'ratio', 'insectRounds'],
  ...['output', 'quality', 'pixels', 'strategy', 'isUpload', 'cells', 'mapCells', 'width', 'x0', 'x1', 'xS'],
]
const featuresOf = (names: string[]) =>
  fc
    .array(fc.tuple(fc.constantFrom(...names), feature), { maxLength: 8 })
    .map((pairs) => Object.fromEntries(pairs) as Features)
const workloads = ['made-up', 'foxes-rabbits', 'insect-war', 'compress', 'hillclimb', 'factorize', 'toString']
const value = fc.oneof(
  { weight: 4, arbitrary: fc.double({ min: 1, max: 1e9, noNaN: true }) },
  { weight: 1, arbitrary: number },
)

// Few names in some runs, so that models have enough rows.
const rows = fc.subarray(names, { minLength: 1 }).chain((names) => {
  const features = featuresOf(names)
  const params = fc.oneof(features, fc.anything())
  const asked = fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), params, features })
  return fc.array(fc.tuple(asked, value), { minLength: 1, maxLength: 60, size: 'max' })
})

for (const [name, make] of Object.entries(rules)) {
  test(`${name}: a guess is finite and above 0, or undefined, for any input`, () => {
    fc.assert(
      fc.property(fc.constantFrom(...workloads), rows, (workload, rows) => {
        const rule = make()
        for (const [row, value] of rows) {
          const question: Question = { workload, codeHash: 'code', ...row }
          check(rule, question)
          rule.learn(question, value)
          check(rule, question)
          // A request that the memo does not know.
          check(rule, { ...question, key: 'new' })
        }
      }),
      { numRuns: share(200) },
    )
  })
}

function check(rule: Rule, question: Question): void {
  const guess = rule.guess(question)
  if (!guess) return
  const { value, spread, reason } = guess
  assert.ok(Number.isFinite(value) && value > 0, `value ${value}`)
  for (const side of Object.values(spread ?? {})) assert.ok(side >= 0 && side < Infinity, `spread ${side}`)
  assert.equal(typeof reason.code, 'string')
}

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

function usedMb(): number {
  collect()
  return process.memoryUsage().heapUsed / 2 ** 20
}

/** Every request is different, with names and long texts that a client chose. */
function hostile(i: number): Question {
  const text = `${i}`.padEnd(2000, 'x')
  const features: Features = { [`name${i}`]: i, kind: `kind${i}`, text, [text]: 1, n: i, width: 1 + (i % 90) }
  for (let k = 0; k < 20; k++) features[`more${k}-${i % 1000}`] = k % 2 ? k * i : `${k * i}!`
  return { workload: 'made-up', codeHash: 'code', key: text, params: {}, features }
}

test('memory stays bounded, whatever clients send', () => {
  const bounded: Record<string, Rule> = {
    memo: memo({ keys: 300 }),
    rankMemo: rankMemo({ keys: 300 }),
    slopes: slopes({ keys: 300 }),
    constant: constant(),
    similarRequests: similarRequests({ keys: 300, rows: 200 }),
    logPolynomial: logPolynomial({ keys: 300, rows: 200 }),
  }
  for (const [name, rule] of Object.entries(bounded)) {
    const feed = (from: number, to: number) => {
      for (let i = from; i < to; i++) {
        rule.learn(hostile(i), i + 1)
        if (i % 100 === 0) rule.guess(hostile(i + 0.5))
      }
    }
    feed(0, 1000)
    const before = usedMb()
    feed(1000, 2500)
    const grown = usedMb() - before
    assert.ok(grown < 1, `${name} grew by ${grown} MB`)
  }
})
