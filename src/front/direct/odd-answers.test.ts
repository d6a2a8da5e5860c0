import assert from 'node:assert/strict'
import test from 'node:test'
import { OddAnswers } from './odd-answers.ts'

test('an odd path takes the general path for a minute, others of its route do not', () => {
  let now = 0
  const odd = new OddAnswers(() => now)
  assert.equal(odd.has('r', '/a'), false)
  assert.equal(odd.add('r', '/a'), false)
  assert.deepEqual([odd.has('r', '/a'), odd.has('r', '/b'), odd.has('s', '/a')], [true, false, false])
  now = 59_999
  odd.add('r', '/b')
  assert.equal(odd.has('r', '/a'), true)
  now = 60_000
  assert.deepEqual([odd.has('r', '/a'), odd.has('r', '/b')], [false, true])
  now = 120_000
  assert.equal(odd.has('r', '/b'), false)
})

test('a route with more than 16 odd paths is odd until they expire', () => {
  let now = 0
  const odd = new OddAnswers(() => now)
  const became = Array.from({ length: 20 }, (_, i) => odd.add('r', `/${i}`))
  assert.equal(became.indexOf(true), 16)
  assert.equal(became.lastIndexOf(true), 16)
  assert.deepEqual([odd.has('r', '/other'), odd.has('s', '/other')], [true, false])
  now = 60_000
  assert.equal(odd.has('r', '/0'), false)
  // A path that is found odd again counts once.
  for (let i = 0; i < 20; i++) assert.equal(odd.add('r', '/0'), false)
})
