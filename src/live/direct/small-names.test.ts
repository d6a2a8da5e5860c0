import assert from 'node:assert/strict'
import test from 'node:test'
import { SmallNames } from './small-names.ts'

const took = (names: SmallNames, count: number, ms: number) => {
  let changes = 0
  for (let i = 0; i < count; i++) if (names.took('r', ms)) changes++
  return changes
}
const fine = { answered: 1, givenBack: 0, totalMs: 1, longestMs: 1 }

test('a name is small after 64 small requests in a row', () => {
  const names = new SmallNames(10)
  took(names, 63, 10)
  took(names, 1, 10.1)
  took(names, 63, 1)
  assert.deepEqual(names.list(), [])
  assert.equal(names.took('r', 1), true)
  assert.deepEqual(names.list(), ['r'])
})

test('nothing is small below 0 ms', () => {
  const names = new SmallNames(0)
  took(names, 1_000, 0.1)
  assert.deepEqual(names.list(), [])
})

test('one request that takes ten times as long demotes it, and it needs twice as many', () => {
  for (const demote of [
    (names: SmallNames) => names.took('r', 101),
    (names: SmallNames) => names.sentDirectly('r', { ...fine, longestMs: 101 }),
    // It is still in progress.
    (names: SmallNames) => names.sentDirectly('r', { answered: 0, givenBack: 0, totalMs: 0, longestMs: 101 }),
  ]) {
    const names = new SmallNames(10)
    took(names, 64, 1)
    assert.equal(names.took('r', 99), false)
    assert.equal(demote(names), true)
    assert.deepEqual(names.list(), [])
    assert.equal(took(names, 127, 1), 0)
    assert.equal(took(names, 1, 1), 1)
  }
})

test('the average of 64 requests counts, not that of a few', () => {
  const names = new SmallNames(10)
  took(names, 64, 1)
  const slow = { ...fine, totalMs: 30, longestMs: 30 }
  assert.equal(names.sentDirectly('r', slow), false)
  for (let i = 0; i < 63; i++) assert.equal(names.sentDirectly('r', fine), false)
  for (let i = 0; i < 63; i++) assert.equal(names.sentDirectly('r', slow), false)
  assert.equal(names.sentDirectly('r', slow), true)
})

test('many requests given back demote it, a few do not', () => {
  const back = { answered: 0, givenBack: 1, totalMs: 0, longestMs: 0 }
  const names = new SmallNames(10)
  took(names, 64, 1)
  for (let i = 0; i < 9; i++) assert.equal(names.sentDirectly('r', back), false)
  assert.equal(names.sentDirectly('r', back), true)
  const others = new SmallNames(10)
  took(others, 64, 1)
  for (let i = 0; i < 1_000; i++) {
    assert.equal(others.sentDirectly('r', { ...fine, answered: 20, totalMs: 20 }), false)
    assert.equal(others.sentDirectly('r', back), false)
  }
})

test('the number needed doubles up to 8,192, and halves with as many direct requests', () => {
  const names = new SmallNames(10)
  for (let needed = 64; needed <= 8_192; needed *= 2) {
    assert.equal(took(names, needed, 1), 1)
    names.took('r', 1_000)
  }
  assert.equal(took(names, 8_192, 1), 1)
  names.sentDirectly('r', { ...fine, answered: 8_192, totalMs: 8_192 })
  names.took('r', 1_000)
  // Halved, then doubled.
  assert.equal(took(names, 8_191, 1), 0)
  assert.equal(took(names, 1, 1), 1)
  names.sentDirectly('r', { ...fine, answered: 8_192, totalMs: 8_192 })
  names.sentDirectly('r', { ...fine, answered: 4_096, totalMs: 4_096 })
  names.took('r', 1_000)
  assert.equal(took(names, 4_096, 1), 1)
})

test('what is known is forgotten with the code', () => {
  const names = new SmallNames(10)
  took(names, 64, 1)
  names.forget()
  assert.deepEqual(names.list(), [])
  assert.equal(names.sentDirectly('r', fine), false)
  assert.equal(took(names, 64, 1), 1)
})
