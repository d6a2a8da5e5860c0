import assert from 'node:assert/strict'
import { test } from 'node:test'
import { read, sizeOf } from './reading.ts'
import { question } from './testing/question.ts'

const sizeIn = (features: Parameters<typeof question>[0], params: unknown = features) => {
  const asked = question(features, { params })
  return sizeOf(asked, read(asked.features))
}

test('numbers, numeric strings and lengths of long strings are numbers; the rest are categories', () => {
  const reading = read({ n: 5, exact: '12345678901', text: 'x'.repeat(100), kind: 'a', on: true, nan: NaN })
  assert.deepEqual(Object.fromEntries(reading.numbers), { n: 5, exact: 12345678901, text: 100 })
  assert.deepEqual(Object.fromEntries(reading.categories), { kind: 'a', on: 'true' })
})

test('values of invalid types are ignored', () => {
  const odd = { a: null, b: undefined, c: {}, d: 1n, e: [1] } as unknown as Parameters<typeof read>[0]
  assert.deepEqual(read(odd), { numbers: new Map(), categories: new Map() })
})

test('the size is the largest number that the workload computed', () => {
  assert.equal(sizeIn({ cells: 100, cellSteps: 3000, feed: 0.03 }, { size: 10, iterations: 30 }), 3000)
})

test('without one, the size is the product of the positive integer parameters', () => {
  assert.equal(sizeIn({ width: 10, height: 20, iterations: 5, cx: -0.8, cy: 0.1, x: 0 }), 1000)
  assert.equal(sizeIn({ n: '91' }), 91)
})

test('the length of a category name is not a size', () => {
  assert.equal(sizeIn({ n: 3, kind: 'thorough', 'kind.length': 8 }, { n: 3, kind: 'thorough' }), 3)
  assert.equal(sizeIn({ n: 3, 'text.length': 8000 }, { n: 3, text: 'x'.repeat(8000) }), 8000)
})

test('without those, the size is the largest positive number', () => {
  assert.equal(sizeIn({ seconds: 2.5, share: 0.1, left: -9 }), 2.5)
  assert.equal(sizeIn({ kind: 'a', left: -9 }), undefined)
})

test('the square of a size is finite, however large its parts', () => {
  assert.ok(Number.isFinite(sizeIn({ a: 1e308, b: 1e308 })! ** 2))
})
