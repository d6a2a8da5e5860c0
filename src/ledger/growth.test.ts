/** Which rows are forgotten, and which stay. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type GrowthLimits, growthLimits, type RowFacts, roomOf, Sieve } from './growth.ts'

const limits: GrowthLimits = { ...growthLimits, perKey: 2, extremes: 2, others: 3 }

type Fact = Omit<RowFacts<number>, 'id'>

/** The places of those that stay, in a list that is newest first. */
function kept(facts: Partial<Fact>[], room: number, some = limits): number[] {
  const sieve = new Sieve<number>(room, some)
  const left = new Set(facts.keys())
  for (const [id, fact] of facts.entries()) {
    for (const gone of sieve.show({ id, key: '', work: 1, learnable: true, ...fact })) {
      assert.ok(left.delete(gone), `${gone} was forgotten twice, or before it was shown`)
    }
  }
  return [...left]
}

test('the newest stay', () => {
  assert.deepEqual(kept([{}, {}, {}, {}, {}], 3), [0, 1, 2])
})

test('of equal requests the newest few stay', () => {
  const facts = ['a', 'a', 'b', 'a', 'b', 'b', 'c'].map((key) => ({ key }))
  assert.deepEqual(kept(facts, 100), [0, 1, 2, 4, 6])
})

test('requests of unknown key are equal to no other', () => {
  assert.equal(kept(Array(50).fill({ key: '' }), 100).length, 50)
})

test('the rows of least and of most work stay, however old', () => {
  const facts = [5, 6, 7, 5, 6, 7, 900, 4, 5, 1, 6, 800, 2, 5].map((work) => ({ work }))
  assert.deepEqual(kept(facts, 8), [0, 1, 2, 3, 6, 9, 11, 12])
})

test('a row that is both new and extreme takes the place of no old one', () => {
  const facts = [1, 900, 2, 800, 5, 5, 3, 700].map((work) => ({ work }))
  assert.deepEqual(kept(facts, 8), [0, 1, 2, 3])
})

test('of rows that nobody learns from some stay, and they push out no other', () => {
  const facts = [...Array(6).fill({ learnable: false, work: Number.NaN }), {}, {}]
  assert.deepEqual(kept(facts, 4), [0, 1, 2, 6, 7])
})

test('of versions that are too old nothing stays', () => {
  assert.deepEqual(kept([{}, { learnable: false }, { work: 1e9 }], 0), [])
  const rooms = [0, 1, 2, 3, 4, 5].map((version) => roomOf(version, growthLimits))
  assert.deepEqual(rooms, [3_500, 1_000, 1_000, 1_000, 0, 0])
})

test('looking again at what stayed forgets nothing more', () => {
  const fact = fc.record({
    key: fc.constantFrom('', 'a', 'b', 'c', 'd'),
    work: fc.integer({ min: 0, max: 30 }),
    learnable: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(fact, { maxLength: 60 }), fc.integer({ min: 0, max: 20 }), (facts, room) => {
      const first = kept(facts, room)
      const rows = first.map((place) => facts[place]!)
      assert.ok(rows.filter((row) => row.learnable).length <= room)
      assert.deepEqual(
        kept(rows, room),
        rows.map((_, place) => place),
      )
    }),
    { seed: 1, numRuns: 500 },
  )
})
