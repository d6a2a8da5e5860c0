import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clusterEstimator } from '../../estimate/cluster-estimator.ts'
import type { Question } from '../../estimate/estimator.ts'
import { readQuantities } from '../../estimate/quantities.ts'
import { question } from '../../estimate/testing/question.ts'
import { memoryLedger } from '../../ledger/testing/memory-ledger.ts'
import { sampleRow } from '../../ledger/testing/samples.ts'
import { polynomialEstimator } from './estimator.ts'
import { storeTrained } from './store-trained.ts'

const names = ['instCount', 'totalAccesses']
const amounts = (n: number) => ({ instCount: 100 * n * n, totalAccesses: 7 * n })
const workOf = (n: number) => 100 * n * n + 7 * n
const rowOf = (n: number) => ({ question: question({ n }), work: workOf(n), quantities: amounts(n) })

test('CN-4 both quantities are estimated: the same request, then a model of the store, then the mean', () => {
  const rule = storeTrained(names, async () => {})
  assert.equal(rule.guess(question({ n: 1 })), undefined)
  for (const n of [2, 8]) rule.learn(question({ n }), workOf(n), amounts(n))
  assert.deepEqual(rule.guess(question({ n: 8 }))!.reason, {
    ...{ code: 'memo', repeats: 1, instCount: 6400, totalAccesses: 56 },
  })
  const rough = rule.guess(question({ n: 5 }))!
  assert.deepEqual(rough.reason, { code: 'geometric-mean', rows: 2, instCount: 1600, totalAccesses: 28 })
  assert.ok(Math.abs(rough.value - 1628) < 1)
  rule.train(Array.from({ length: 40 }, (_, i) => rowOf(2 * i + 2)))
  const { value, source, reason } = rule.guess(question({ n: 41 }))!
  assert.equal(source, 'model')
  assert.ok(Math.abs(Number(reason.totalAccesses) / (7 * 41) - 1) < 0.05, JSON.stringify(reason))
  assert.ok(Math.abs(value / workOf(41) - 1) < 0.05)
})

test('CN-4 enough new rows request a rebuild, once until it is done', async () => {
  let asked = 0
  const rule = storeTrained(names, async () => {
    asked++
  })
  const learn = (n: number) => rule.learn(question({ n }), workOf(n), amounts(n))
  for (let n = 1; n <= 4; n++) learn(n)
  assert.equal(asked, 0)
  for (let n = 5; n <= 9; n++) learn(n)
  assert.equal(asked, 1)
  await Promise.resolve()
  await Promise.resolve()
  rule.train(Array.from({ length: 100 }, (_, i) => rowOf(i + 1)))
  for (let n = 201; n < 210; n++) learn(n)
  assert.equal(asked, 1)
  learn(210)
  assert.equal(asked, 2)
})

/** Rows as a ledger has them. */
function record(ledger: ReturnType<typeof memoryLedger>, from: number, to: number): Question[] {
  const questions: Question[] = []
  for (let n = from; n <= to; n++) {
    const asked = question({ n })
    const { workload, codeHash, key } = asked
    const texts = { parameters: JSON.stringify({ n }), features: JSON.stringify({ n }) }
    const quantities = JSON.stringify(amounts(n))
    ledger.record(sampleRow(n, { workload, codeHash, key, ...texts, work: workOf(n), quantities }))
    questions.push(asked)
  }
  return questions
}

test('CN-4 the cache is warmed from the store at start, and models are rebuilt from the store', async () => {
  const ledger = memoryLedger()
  const [known] = record(ledger, 1, 30)
  const lines: string[] = []
  const log = (line: string) => lines.push(line)
  const work = polynomialEstimator({ quantities: names }, { ledger, log })
  const estimator = clusterEstimator({ workPerCpuMs: 1000, work, ledger, log })
  await estimator.warm(known!.workload)
  assert.equal(estimator.estimate(known!).source, 'memo')
  assert.equal(estimator.estimate(question({ n: 40 })).source, 'model')
  // Another process wrote these; measurements here only trigger the rebuild.
  const [theirs] = record(ledger, 31, 60)
  assert.notEqual(estimator.estimate(theirs!).source, 'memo')
  for (let n = 61; n <= 66; n++)
    estimator.learn(question({ n }), { work: workOf(n), peakMemoryMb: 1, quantities: amounts(n) })
  await estimator.settled()
  assert.equal(estimator.estimate(theirs!).source, 'memo')
  assert.deepEqual(lines, [
    `retraining: models of ${known!.workload} built from 30 rows`,
    `retraining: models of ${known!.workload} rebuilt from 60 rows`,
  ])
  await estimator.close()
})

test('CN-4 the store is asked when memory does not know', async () => {
  const ledger = memoryLedger()
  const [known] = record(ledger, 1, 10)
  const lines: string[] = []
  const parts = { ledger, log: (line: string) => lines.push(line) }
  const work = polynomialEstimator({ quantities: names }, parts)
  const estimator = clusterEstimator({ workPerCpuMs: 1000, work, ...parts })
  await estimator.warm(known!.workload)
  // Another process wrote them.
  const [theirs] = record(ledger, 50, 50)
  const [failed] = record(ledger, 51, 51)
  const { workload, codeHash, key } = failed!
  ledger.record(sampleRow(99, { workload, codeHash, key, outcome: 'error', work: 3, quantities: '' }))
  await Promise.all([theirs!, failed!, question({ n: 52 })].map((asked) => estimator.look!(asked)))
  for (const asked of [theirs!, failed!]) {
    const { work, source } = estimator.estimate(asked)
    assert.deepEqual([Math.round(work), source], [workOf(asked === theirs ? 50 : 51), 'memo'])
  }
  assert.equal(estimator.estimate(question({ n: 52 })).source, 'model')
  await ledger.close()
  await estimator.look!(question({ n: 53 }))
  assert.match(lines.at(-1)!, /the ledger has no rows of made-up/)
  await estimator.close()
})

test('CN-4 of the rows of a request in the store the newest five are read, as they may have failed', async () => {
  for (const [failures, isFound] of [
    [4, true],
    [5, false],
  ] as const) {
    const ledger = memoryLedger()
    const parts = { ledger, log: () => {} }
    const work = polynomialEstimator({ quantities: names }, parts)
    const estimator = clusterEstimator({ workPerCpuMs: 1000, work, ...parts })
    const [first] = record(ledger, 1, 10)
    await estimator.warm(first!.workload)
    const [asked] = record(ledger, 50, 50)
    const { workload, codeHash, key } = asked!
    for (let i = 1; i <= failures; i++)
      ledger.record(sampleRow(50 + i, { workload, codeHash, key, outcome: 'error', work: 3, quantities: '' }))
    await estimator.look!(asked!)
    const { source } = estimator.estimate(asked!)
    await estimator.close()
    assert.equal(source === 'memo', isFound, `${failures} failures`)
  }
})

test('a store that cannot be read leaves the models unchanged, and is read again later', async () => {
  const ledger = memoryLedger()
  const lines: string[] = []
  const log = (line: string) => lines.push(line)
  const work = polynomialEstimator({ quantities: names }, { ledger, log })
  const estimator = clusterEstimator({ workPerCpuMs: 1000, work, ledger, log })
  await ledger.close()
  for (let round = 0; round < 2; round++) {
    for (let n = 1; n <= 5; n++)
      estimator.learn(question({ n }), { work: workOf(n), peakMemoryMb: 1, quantities: amounts(n) })
    await estimator.settled()
  }
  assert.ok(lines.length >= 2 && lines.every((line) => /not rebuilt/.test(line)), lines.join('\n'))
  await estimator.close()
})

test('invalid quantities are ignored', () => {
  for (const text of ['', '{', '[]', '{}', 'null', '{"a":-1}', '{"a":"1"}', '{"a":null}'])
    assert.equal(readQuantities(text), undefined, text)
  assert.deepEqual(readQuantities('{"a":0,"b":2.5}'), { a: 0, b: 2.5 })
})
