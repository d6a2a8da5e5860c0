import assert from 'node:assert/strict'
import test from 'node:test'
import { parseHead, parseRaw } from './http-head.ts'

const read = (head: unknown, switching?: 101) => parseHead(Buffer.from(JSON.stringify(head)), switching)

test('a valid head is parsed unchanged', () => {
  const head = { status: 299, message: 'Fine ÿ', headers: ['Set-Cookie', 'a', 'set-cookie', 'b'] }
  assert.deepEqual(read(head), head)
  assert.deepEqual(read({ ...head, status: 101 }, 101), { ...head, status: 101 })
})

test('an invalid head is refused', () => {
  const good = { status: 200, message: '', headers: [] as unknown[] }
  const bad = [
    null,
    { ...good, status: 101 },
    { ...good, status: 1000 },
    { ...good, status: '200' },
    { ...good, message: 'a\r\nb' },
    { ...good, message: 5 },
    { ...good, headers: ['a'] },
    { ...good, headers: ['a b', 'c'] },
    { ...good, headers: ['a', 'c\n'] },
    { ...good, headers: ['a', 5] },
    { ...good, headers: {} },
  ]
  for (const head of bad) assert.throws(() => read(head), { code: 'PROTOCOL' }, JSON.stringify(head))
  assert.throws(() => parseHead(Buffer.from('{"status":')), { code: 'PROTOCOL' })
  assert.throws(() => read(good, 101))
})

test('trailers are names and values in turn', () => {
  assert.deepEqual(parseRaw(undefined), [])
  assert.deepEqual(parseRaw('["x-sum","12"]'), ['x-sum', '12'])
  for (const bad of ['', '{}', '["x"]', '["x",1]', '["x\\n","1"]'])
    assert.throws(() => parseRaw(bad), { code: 'PROTOCOL' }, bad)
})
