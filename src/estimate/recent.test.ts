import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Recent } from './recent.ts'

test('a new key evicts the least recently read or written one', () => {
  const recent = new Recent<number>(3)
  recent.set('a', 1)
  recent.set('b', 2)
  recent.set('c', 3)
  recent.get('a')
  recent.set('b', 20)
  recent.set('d', 4)
  assert.deepEqual([...recent.values()], [1, 20, 4])
  assert.equal(recent.get('c'), undefined)
  assert.equal(recent.size, 3)
})
