import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Rule } from '../../estimate/estimator.ts'
import { question } from '../../estimate/testing/question.ts'
import { slopes } from './slopes.ts'

const foxes = (world: number, scenario: number, generations: number) =>
  question(
    { habitat: `${world}:${scenario}`, generations, cellTurns: generations * 4 ** world, output: 'json' },
    { workload: 'foxes-rabbits', params: { world, scenario, generations } },
  )
const war = (rounds: number, army1: number, army2: number) => {
  const insects = army1 + army2
  return question(
    { rounds, insects, insectRounds: rounds * insects, output: 'json' },
    { workload: 'insect-war', params: { rounds, army1, army2 } },
  )
}
const compress = (output: string, quality: number, pixels: number) =>
  question(
    { input: 'png', output, quality, pixels, writtenPixels: pixels, bytes: pixels * 9 },
    { workload: 'compress', params: { format: output, quality } },
  )
const value = (rule: Rule, asked: Parameters<Rule['guess']>[0]) => rule.guess(asked)?.value

test('EW-3 the estimate is the slope between the smallest and the largest x times x, without intercept', () => {
  const rule = slopes()
  rule.learn(foxes(1, 1, 100), 1500)
  rule.learn(foxes(1, 1, 300), 2500)
  const reason = { code: 'slope', key: '1:1', slope: 5, x: 200 }
  assert.deepEqual(rule.guess(foxes(1, 1, 200)), { value: 1000, source: 'model', reason })
})

test('EW-3 only an x outside the known range changes the slope', () => {
  const rule = slopes()
  rule.learn(foxes(1, 1, 100), 1000)
  rule.learn(foxes(1, 1, 300), 3000)
  for (const generations of [100, 200, 300]) rule.learn(foxes(1, 1, generations), 1_000_000)
  assert.equal(value(rule, foxes(1, 1, 200)), 2000)
  rule.learn(foxes(1, 1, 500), 9000)
  assert.equal(value(rule, foxes(1, 1, 200)), 4000)
  rule.learn(foxes(1, 1, 50), 4500)
  assert.equal(value(rule, foxes(1, 1, 200)), 2000)
})

test('EW-3 with one point the slope is work divided by x', () => {
  const rule = slopes()
  rule.learn(foxes(1, 1, 100), 700)
  assert.equal(value(rule, foxes(1, 1, 10)), 70)
})

test('EW-3 an unknown key has the mean slope of the known ones', () => {
  const rule = slopes()
  assert.equal(rule.guess(foxes(3, 3, 10)), undefined)
  rule.learn(foxes(1, 1, 100), 700)
  rule.learn(foxes(2, 1, 100), 1700)
  const reason = { code: 'mean-slope', keys: 2, slope: 12, x: 10 }
  assert.deepEqual(rule.guess(foxes(3, 3, 10)), { value: 120, source: 'model', reason })
})

test('EW-3 if the larger x took no more work, the line goes through the origin', () => {
  const rule = slopes()
  rule.learn(foxes(1, 1, 100), 5000)
  rule.learn(foxes(1, 1, 200), 4000)
  assert.equal(value(rule, foxes(1, 1, 50)), 1000)
})

test('EW-4 foxes and rabbits have world and scenario as key, and generations as x', () => {
  const rule = slopes()
  rule.learn(foxes(1, 2, 10), 100)
  const { key, x } = rule.guess(foxes(1, 2, 30))!.reason
  assert.deepEqual([key, x], ['1:2', 30])
})

test('EW-4 a war has its ratio rounded up to an even number as key, and rounds times insects as x', () => {
  const keyOf = (army1: number, army2: number) => {
    const rule = slopes()
    rule.learn(war(1, army1, army2), 1)
    return rule.guess(war(1, army1, army2))!.reason.key
  }
  const armies = [
    [50, 50],
    [100, 50],
    [50, 101],
    [400, 50],
    [401, 50],
  ] as const
  assert.deepEqual(
    armies.map(([a, b]) => keyOf(a, b)),
    ['<=2', '<=2', '<=4', '<=8', '<=infinity'],
  )
  const rule = slopes()
  rule.learn(war(10, 50, 50), 5000)
  assert.equal(value(rule, war(20, 60, 40)), 10_000)
})

test('EW-4 compression has format and tenth of quality as key, BMP only the format, and pixels as x', () => {
  const keyOf = (format: string, quality: number) => {
    const rule = slopes()
    rule.learn(compress(format, quality, 10), 1)
    return rule.guess(compress(format, quality, 10))!.reason.key
  }
  assert.deepEqual(
    [keyOf('png', 0.74), keyOf('png', 0.75), keyOf('jpeg', 1), keyOf('bmp', 0.3)],
    ['png:0.7', 'png:0.8', 'jpeg:1', 'bmp'],
  )
  const rule = slopes()
  rule.learn(compress('png', 0.7, 1000), 5000)
  assert.equal(value(rule, compress('png', 0.68, 3000)), 15_000)
})

test('EW-4 other workloads have their categories as key, and their size as x', () => {
  const rule = slopes()
  rule.learn(question({ kind: 'a', deep: true, width: 2, height: 5 }), 100)
  rule.learn(question({ kind: 'b', deep: true, width: 2, height: 5 }), 900)
  const { value, reason } = rule.guess(question({ kind: 'a', deep: true, width: 4, height: 5 }))!
  assert.equal(value, 200)
  assert.equal(reason.key, 'a:true')
})

test('a picture without pixels and a workload without features are tolerated', () => {
  const rule = slopes()
  rule.learn(compress('png', 0.7, 0), 5)
  assert.equal(rule.guess(compress('png', 0.7, 100)), undefined)
  rule.learn(compress('png', 0.7, 100), 1005)
  assert.equal(value(rule, compress('png', 0.7, 200)), 2000)
  assert.equal(rule.guess(compress('png', 0.7, 0)), undefined)
  rule.learn(question({}, { workload: 'compress' }), 8)
  assert.equal(value(rule, question({}, { workload: 'compress' })), 8)
})
