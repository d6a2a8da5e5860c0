import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kindOf, leastOf } from './shrink.ts'

test('everything that a failure does not need is left out', async () => {
  const needed = [3, 17, 18]
  const leftOut = await leastOf(40, (without) => needed.every((number) => !without.has(number)))
  assert.equal(leftOut.size, 37)
  assert.ok(needed.every((number) => !leftOut.has(number)))
})

test('what must stay together is left out together', async () => {
  const leftOut = await leastOf(8, (without) => without.has(4) === without.has(5))
  assert.equal(leftOut.size, 8)
})

test('a failure that needs nothing is shrunk to nothing', async () => {
  assert.equal((await leastOf(7, () => true)).size, 7)
  assert.equal((await leastOf(0, () => true)).size, 0)
})

test('failures that differ in numbers and ids only are of the same kind', () => {
  assert.equal(
    kindOf('1.250 s: request 7 was answered twice'),
    kindOf('31.1 s: request 12 was answered twice'),
  )
  assert.notEqual(
    kindOf('1.2 s: request 7 was answered twice'),
    kindOf('1.2 s: request 7 was never answered'),
  )
})
