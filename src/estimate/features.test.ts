import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Features } from '../model/estimate.ts'
import type { BodyFacts } from '../workload/workload.ts'
import { featuresOf } from './features.ts'

// A fixed seed: every run checks the same cases.
fc.configureGlobal({ seed: 1 })

const noBody: BodyFacts = { bytes: 0, head: new Uint8Array() }
const automatic = (params: unknown, body = noBody) => featuresOf({}, params, body)
const fromJson = (text: string) => automatic(JSON.parse(text))

/** The features of a workload that declares them, and the reported problem. */
function declared(features: () => unknown, params: unknown = { n: 1 }): [Features, string | undefined] {
  let problem: string | undefined
  const found = featuresOf({ features: features as () => Features }, params, noBody, (why) => {
    problem = why
  })
  return [found, problem]
}

test('numbers, booleans and strings are features; a string also has a length', () => {
  assert.deepEqual(automatic({ n: 5, on: false, kind: 'fast', nothing: null, left: undefined }), {
    n: 5,
    on: false,
    kind: 'fast',
    'kind.length': 4,
  })
})

test('a numeric string has no length feature', () => {
  assert.deepEqual(automatic({ n: '999985999949', share: '-0.5', odd: '0x10' }), {
    n: '999985999949',
    share: '-0.5',
    odd: '0x10',
    'odd.length': 4,
  })
})

test('a long string yields only its length', () => {
  assert.deepEqual(automatic({ text: 'x'.repeat(5000), digits: '7'.repeat(100) }), {
    'text.length': 5000,
    'digits.length': 100,
  })
})

test('nested objects are flattened to dotted names, four levels deep', () => {
  assert.deepEqual(fromJson('{"a":{"b":{"c":{"d":1,"e":{"f":2}}},"g":true}}'), { 'a.b.c.d': 1, 'a.g': true })
})

test('arrays yield length, and sum and maximum of numbers or of element lengths', () => {
  assert.deepEqual(
    fromJson('{"a":[3,9,1],"words":["one","three"],"rows":[[1,2],[]],"mixed":[1,{}],"e":[]}'),
    {
      'a.length': 3,
      'a.sum': 13,
      'a.max': 9,
      'words.length': 2,
      'words.sum': 8,
      'words.max': 5,
      'rows.length': 2,
      'rows.sum': 2,
      'rows.max': 2,
      'mixed.length': 2,
      'e.length': 0,
    },
  )
  assert.deepEqual(automatic([4, 5]), { 'params.length': 2, 'params.sum': 9, 'params.max': 5 })
  assert.deepEqual(automatic({ raw: new Uint8Array(3) }), { 'raw.length': 3, 'raw.sum': 0, 'raw.max': 0 })
})

test('the sum of a huge array is extrapolated from a sample', () => {
  const found = automatic({ a: new Array(1_000_000).fill(2) })
  assert.deepEqual(found, { 'a.length': 1_000_000, 'a.sum': 2_000_000, 'a.max': 2 })
})

test('bigints and dates are numbers', () => {
  assert.deepEqual(automatic({ n: 12n, huge: 10n ** 400n, day: new Date(86_400_000) }), {
    n: 12,
    day: 86_400_000,
  })
})

test('a body yields its size, an image also its dimensions', () => {
  assert.deepEqual(automatic({ n: 1 }, { bytes: 7, head: Buffer.from('letters') }), { n: 1, 'body.bytes': 7 })
  const head = Buffer.from('4749463839612c01c800000000', 'hex')
  assert.deepEqual(automatic({}, { bytes: 9000, head }), {
    'body.bytes': 9000,
    'body.width': 300,
    'body.height': 200,
    'body.pixels': 60_000,
  })
})

test('at most 64 features, including those of the body, and no long names', () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`p${i}`, i]))
  const names = Object.keys(automatic(many, { bytes: 7, head: new Uint8Array() }))
  assert.equal(names.length, 64)
  assert.ok(names.includes('body.bytes'))
  assert.deepEqual(automatic({ ['x'.repeat(65)]: 1, ['y'.repeat(60)]: 'kind' }), { ['y'.repeat(60)]: 'kind' })
  assert.equal(Object.keys(declared(() => many)[0]).length, 64)
})

test('features declared by the workload replace the automatic ones', () => {
  assert.deepEqual(
    declared(() => ({ pixels: 5, kind: 'a', on: true, odd: NaN })),
    [{ pixels: 5, kind: 'a', on: true }, undefined],
  )
  const long = declared(() => ({ text: 'x'.repeat(65), kind: 'y'.repeat(64) }))
  assert.deepEqual(long, [{ text: 65, kind: 'y'.repeat(64) }, undefined], 'a long string yields its length')
})

test('invalid declared features are reported, and automatic ones are used', () => {
  const [found, why] = declared(() => {
    throw new Error('no such map')
  })
  assert.deepEqual([found, why], [{ n: 1 }, 'no such map'])
  for (const wrong of [undefined, null, 5, [1], new Map(), Promise.resolve({ n: 2 })]) {
    assert.deepEqual(
      declared(() => wrong),
      [{ n: 1 }, 'features() must return a plain object'],
    )
  }
  for (const wrong of [null, undefined, [1], 1n, {}]) {
    const [used, problem] = declared(() => ({ good: 1, bad: wrong }))
    assert.deepEqual(used, { n: 1 })
    assert.match(problem!, /^features\(\) returned bad = \w+: must be a number, a string or a boolean$/)
  }
  const [, thrown] = declared(() => {
    throw Object.create(null)
  })
  assert.match(thrown!, /^features\(\) threw /)
})

test('names from clients cannot reach a prototype', () => {
  const found = fromJson('{"__proto__":{"x":1,"__proto__":7},"constructor":2,"a":{"__proto__":3}}')
  assert.equal(Object.getPrototypeOf(found), Object.prototype)
  assert.deepEqual(Object.entries(found), [
    ['__proto__.x', 1],
    ['__proto__.__proto__', 7],
    ['constructor', 2],
    ['a.__proto__', 3],
  ])
  assert.deepEqual(Object.entries(fromJson('{"__proto__":5}')), [])
})

test('any parameters yield few, short features with finite numbers', () => {
  const name = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'length', 'x'.repeat(70), 'a.b', ''))
  const { value: anything } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'medium' },
      fc.oneof(fc.double(), fc.boolean(), fc.string(), fc.constant(null)),
      fc.constantFrom(1e308, Infinity, NaN, -0, 'y'.repeat(1000)),
      fc.array(tie('value')),
      fc.array(fc.constantFrom(1e308, -1, 5)),
      // As JSON.parse creates them: own properties with names that are special to JavaScript.
      fc.array(fc.tuple(name, tie('value'))).map((pairs) => Object.fromEntries(pairs)),
    ),
  }))
  fc.assert(
    fc.property(anything, (params) => {
      const features = automatic(params)
      assert.equal(Object.getPrototypeOf(features), Object.prototype)
      const entries = Object.entries(features)
      assert.ok(entries.length <= 64)
      for (const [key, value] of entries) {
        assert.ok(key.length <= 64)
        if (typeof value === 'string') assert.ok(value.length <= 64)
        else if (typeof value === 'number') assert.ok(Number.isFinite(value))
        else assert.equal(typeof value, 'boolean')
      }
      assert.deepEqual(automatic(params), features)
    }),
    { numRuns: 1000 },
  )
})
