import assert from 'node:assert/strict'
import test from 'node:test'
import { runInNewContext } from 'node:vm'
import { toJson } from './json-answer.ts'

class Point {
  x = 1
}

class Money {
  toJSON() {
    return '5 EUR'
  }
}

const lost: [name: string, value: unknown, message: RegExp][] = [
  [
    'a Map',
    { items: [0, 1, 2, { when: new Map() }] },
    /^answer\.items\[3\]\.when: a Map is not JSON; return Object/,
  ],
  ['a Set', new Set([1]), /^answer: a Set is not JSON; return \[\.\.\.set\]$/],
  [
    'a class instance',
    [new Point()],
    /^answer\[0\]: an instance of Point is not JSON; return a plain object/,
  ],
  ['an Error', { error: new Error('no') }, /^answer\.error: an Error is not JSON; return its message/],
  ['a Promise', { later: Promise.resolve(1) }, /^answer\.later: a Promise is not JSON; await it first$/],
  ['a typed array', { a: new Float64Array(2) }, /^answer\.a: a Float64Array is not JSON; return Array\.from/],
  ['a function', { 'a b': () => 1 }, /^answer\["a b"\]: a function is not JSON$/],
  ['a symbol', [Symbol('s')], /^answer\[0\]: a symbol is not JSON$/],
  ['a BigInt', { n: 1n }, /^answer\.n: a BigInt is not JSON; return a number or a string$/],
]

for (const [name, value, message] of lost) {
  test(`${name} in an answer is an error that names its path`, () => {
    assert.throws(() => toJson(value), { name: 'TypeError', message })
  })
}

test('a cycle is an error that names its path', () => {
  const root: { child: { parent?: unknown } } = { child: {} }
  root.child.parent = root
  const message = 'answer.child.parent: refers to a value that contains it; JSON has no cycles'
  assert.throws(() => toJson(root), { name: 'TypeError', message })
})

test('values that occur twice are no cycle', () => {
  const shared = { a: 1 }
  assert.equal(toJson([shared, shared]), '[{"a":1},{"a":1}]')
})

test('an error thrown by toJSON is passed on', () => {
  const failing = { toJSON: () => assert.fail('not today') }
  assert.throws(() => toJson([failing]), { message: 'not today' })
})

test('plain values, objects without a prototype or of another realm, and objects with toJSON are JSON', () => {
  const value = {
    at: new Date(0),
    url: new URL('http://x/'),
    price: new Money(),
    bare: Object.assign(Object.create(null), { a: [null, true, 'b'] }),
    foreign: runInNewContext('({ list: [1, { two: 2 }] })'),
  }
  assert.equal(toJson(value), JSON.stringify(value))
})

test('undefined and numbers that are not finite are treated as JSON.stringify does', () => {
  assert.equal(toJson({ gone: undefined, list: [undefined, NaN] }), '{"list":[null,null]}')
})
