import assert from 'node:assert/strict'
import test from 'node:test'
import { rememberNames } from './name-uses.ts'

test('a name is decided once', () => {
  const asked: string[] = []
  const useOf = rememberNames((name) => {
    asked.push(name)
    return name === 'b' ? 'drop' : 'pass'
  })
  assert.deepEqual(['a', 'b', 'a', 'b', 'constructor'].map(useOf), ['pass', 'drop', 'pass', 'drop', 'pass'])
  assert.deepEqual(asked, ['a', 'b', 'constructor'])
})

test('long names and more than 1,000 of them are decided again each time', () => {
  let asked = 0
  const useOf = rememberNames(() => {
    asked++
    return 'pass'
  })
  const long = 'n'.repeat(65)
  for (let i = 0; i < 3; i++) useOf(long)
  assert.equal(asked, 3)
  for (let round = 0; round < 2; round++) for (let i = 0; i < 1_100; i++) useOf(`x-${i}`)
  assert.equal(asked, 3 + 1_100 + 100)
})
