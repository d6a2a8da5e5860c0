import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { z } from 'zod'
import { defineWorkload } from '../workload/workload.ts'
import { canonical } from './canonical.ts'
import { questioner } from './question.ts'

// A fixed seed: every run checks the same cases.
fc.configureGlobal({ seed: 1 })

const plain = defineWorkload({ name: 'plain', description: 'Has no features', run: () => {} })
const lines: string[] = []
const ask = questioner({ code: { plain: 'c0de' }, log: (line) => lines.push(line) })
const keyOf = (params: unknown) => ask(plain, params).key

test('a question holds workload, code hash, key, parameters and features', () => {
  assert.deepEqual(ask(plain, { n: 5 }), {
    workload: 'plain',
    codeHash: 'c0de',
    key: '{"n":5}',
    params: { n: 5 },
    features: { n: 5 },
  })
})

test('equal parameters have the same key in any order', () => {
  assert.equal(keyOf({ a: 1, b: { c: 2, d: [1, 2] } }), keyOf({ b: { d: [1, 2], c: 2 }, a: 1 }))
  assert.equal(keyOf({ a: 1, b: undefined }), keyOf({ a: 1 }))
})

test('different parameters have different keys', () => {
  const all = [
    ...[{ a: 1 }, { a: '1' }, { a: 1n }, { a: [1] }, { a: null }, { a: 'null' }, { a: NaN }, { a: Infinity }],
    ...[{ a: -0 }, { a: 0 }, { a: new Map([[1, 2]]) }, { a: new Map() }, { a: new Set([1]) }, { a: {} }],
    ...[{ a: new Date(0) }, { a: new Date(1) }, { a: new Uint8Array(2) }, { a: new Uint8Array(3) }, {}],
    ...[
      { a: { b: 1 } },
      { 'a.b': 1 },
      { a: ['b', 'c'] },
      { a: ['b,c'] },
      [],
      null,
      JSON.parse('{"__proto__":1}'),
    ],
    ...[{ a: 'x'.repeat(5000) }, { a: `${'x'.repeat(4999)}y` }],
  ]
  assert.equal(new Set(all.map(keyOf)).size, all.length)
})

test('a key is short, however long the parameters', () => {
  assert.ok(keyOf({ text: 'x'.repeat(1_000_000) }).length < 100)
  assert.ok(keyOf(new Array(10_000).fill(0)).length < 100)
})

test('bodies are distinguished by their size and first bytes', () => {
  const keys = ['', 'one', 'two', 'three'].map((text) => {
    return ask(plain, { n: 1 }, { bytes: text.length, head: Buffer.from(text) }).key
  })
  assert.equal(new Set(keys).size, 4)
  assert.equal(keys[0], keyOf({ n: 1 }))
})

test('cyclic parameters are never equal', () => {
  const endless: Record<string, unknown> = {}
  endless.self = endless
  endless.again = endless
  assert.notEqual(keyOf(endless), keyOf(endless))
})

test('features that fail are logged once and do not fail the request', () => {
  const broken = defineWorkload({
    name: 'broken',
    description: 'Has features that fail',
    params: z.object({ n: z.number() }),
    features() {
      throw new Error('no such map')
    },
    run: () => {},
  })
  lines.length = 0
  for (const n of [1, 2, 3]) assert.deepEqual(ask(broken as never, { n }).features, { n })
  assert.deepEqual(lines, [
    'workload broken: automatic features are used because its features() is invalid: no such map',
  ])
})

test('the canonical text of JSON values is the same only for equal values', () => {
  const shuffled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffled)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([name, field]) => [name, shuffled(field)]),
    )
  }
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      assert.equal(canonical(one), canonical(shuffled(one)))
      assert.deepEqual(JSON.parse(canonical(one)), JSON.parse(JSON.stringify(one)))
      if (canonical(one) === canonical(other)) assert.deepEqual(one, other)
    }),
  )
})
