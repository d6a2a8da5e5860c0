import assert from 'node:assert/strict'
import test from 'node:test'
import { answerKey, cacheControlOf } from './answer-key.ts'
import { answerText } from './answer-text.ts'

interface Sent {
  workload?: string
  codeHash?: string
  params?: Record<string, unknown>
  /** As the schema returned them. Default: as sent. */
  checked?: unknown
  body?: Buffer
  sendBody?: boolean
}

function keyOf(sent: Sent): Promise<string> {
  const { workload = 'w', codeHash = 'c', params = {}, body = Buffer.alloc(0), sendBody = true } = sent
  const question = { workload, codeHash, key: '', params: {}, features: {} }
  const kept = {
    bytes: body.length,
    async *open() {
      yield body
    },
  }
  return answerKey({
    question,
    text: answerText(params, 'checked' in sent ? sent.checked : params),
    body: sendBody ? kept : undefined,
  })
}

const long = Buffer.alloc(100_000, 'a')
const longOther = Buffer.concat([long.subarray(1), Buffer.from('b')])

const differing: [string, Sent, Sent][] = [
  ['parameters', { params: { n: 1 } }, { params: { n: 2 } }],
  ['the type of a parameter', { params: { n: 1 } }, { params: { n: '1' } }],
  ['negative zero', { params: { n: 0 } }, { params: { n: -0 } }],
  ['the workload', { workload: 'a' }, { workload: 'b' }],
  ['the version of the code', { codeHash: 'a' }, { codeHash: 'b' }],
  ['the boundary between names', { workload: 'ab', codeHash: 'c' }, { workload: 'a', codeHash: 'bc' }],
  ['the body', { body: Buffer.from('a') }, { body: Buffer.from('b') }],
  ['the end of a long body', { body: long }, { body: longOther }],
  ['a body and a parameter', { body: Buffer.from('{}') }, { params: { body: '{}' } }],
  [
    'values that look alike',
    { params: { r: 'a' }, checked: { r: /a/ } },
    { params: { r: 'b' }, checked: { r: /b/ } },
  ],
]

for (const [what, first, second] of differing) {
  test(`requests that differ in ${what} have different keys`, async () => {
    assert.notEqual(await keyOf(first), await keyOf(second))
    assert.equal(await keyOf(first), await keyOf(first))
  })
}

test('equivalent requests have the same key', async () => {
  const plain = await keyOf({ params: { a: 1, b: { c: 2, d: 3 } } })
  assert.equal(await keyOf({ params: { b: { d: 3, c: 2 }, a: 1 } }), plain)
  assert.equal(await keyOf({ params: { a: '1' }, checked: { a: 1, b: { c: 2, d: 3 } } }), plain)
  // A body that held the parameters does not count.
  const json = Buffer.from('{"a":1,"b":{"c":2,"d":3}}')
  assert.equal(await keyOf({ params: { a: 1, b: { c: 2, d: 3 } }, body: json, sendBody: false }), plain)
})

test('circular values are keyed by the parameters as sent', async () => {
  const circle: Record<string, unknown> = {}
  circle.self = circle
  const key = await keyOf({ params: { a: 1 }, checked: circle })
  assert.equal(await keyOf({ params: { a: 1 }, checked: circle }), key)
  assert.notEqual(await keyOf({ params: { a: 2 }, checked: circle }), key)
})

test('cache-control asks for a new answer, or for one that is not shared', () => {
  const control = (text?: string) =>
    cacheControlOf({ headers: text === undefined ? {} : { 'cache-control': text } })
  assert.deepEqual(control(), { fresh: false, alone: false })
  assert.deepEqual(control('No-Cache'), { fresh: true, alone: false })
  assert.deepEqual(control('no-transform, max-age=0'), { fresh: true, alone: false })
  assert.deepEqual(control('no-store'), { fresh: false, alone: true })
  assert.deepEqual(control('x-no-cache, max-age=01, no-cached'), { fresh: false, alone: false })
})
