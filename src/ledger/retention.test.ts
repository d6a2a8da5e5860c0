/** Which rows are deleted, and which stay. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { capacityOf, type RetentionLimits, type RowFacts, RowFilter, retentionLimits } from './retention.ts'

const limits: RetentionLimits = { ...retentionLimits, perKey: 2, extremes: 2, others: 3 }

type Fact = Omit<RowFacts<number>, 'id'>

/** The indices of the rows that stay; `facts` is newest first. */
function kept(facts: Partial<Fact>[], capacity: number, some = limits): number[] {
  const filter = new RowFilter<number>(capacity, some)
  const left = new Set(facts.keys())
  for (const [id, fact] of facts.entries()) {
    for (const deleted of filter.offer({ id, key: '', work: 1, learnable: true, ...fact })) {
      assert.ok(left.delete(deleted), `${deleted} was deleted twice, or before it was offered`)
    }
  }
  return [...left]
}

test('the newest rows stay', () => {
  assert.deepEqual(kept([{}, {}, {}, {}, {}], 3), [0, 1, 2])
})

test('the newest rows of equal requests stay', () => {
  const facts = ['a', 'a', 'b', 'a', 'b', 'b', 'c'].map((key) => ({ key }))
  assert.deepEqual(kept(facts, 100), [0, 1, 2, 4, 6])
})

test('requests without a key count as different', () => {
  assert.equal(kept(Array(50).fill({ key: '' }), 100).length, 50)
})

test('the rows with the least and the most work stay, however old', () => {
  const facts = [5, 6, 7, 5, 6, 7, 900, 4, 5, 1, 6, 800, 2, 5].map((work) => ({ work }))
  assert.deepEqual(kept(facts, 8), [0, 1, 2, 3, 6, 9, 11, 12])
})

test('a row that is both new and extreme displaces no old row', () => {
  const facts = [1, 900, 2, 800, 5, 5, 3, 700].map((work) => ({ work }))
  assert.deepEqual(kept(facts, 8), [0, 1, 2, 3])
})

test('a few unlearnable rows stay, and displace no other', () => {
  const facts = [...Array(6).fill({ learnable: false, work: Number.NaN }), {}, {}]
  assert.deepEqual(kept(facts, 4), [0, 1, 2, 6, 7])
})

test('no rows of the oldest versions stay', () => {
  assert.deepEqual(kept([{}, { learnable: false }, { work: 1e9 }], 0), [])
  const capacities = [0, 1, 2, 3, 4, 5].map((version) => capacityOf(version, retentionLimits))
  assert.deepEqual(capacities, [3_500, 1_000, 1_000, 1_000, 0, 0])
})

test('filtering the remaining rows again deletes none', () => {
  const fact = fc.record({
    key: fc.constantFrom('', 'a', 'b', 'c', 'd'),
    work: fc.integer({ min: 0, max: 30 }),
    learnable: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(fact, { maxLength: 60 }), fc.integer({ min: 0, max: 20 }), (facts, capacity) => {
      const first = kept(facts, capacity)
      const rows = first.map((index) => facts[index]!)
      assert.ok(rows.filter((row) => row.learnable).length <= capacity)
      assert.deepEqual(
        kept(rows, capacity),
        rows.map((_, index) => index),
      )
    }),
    { seed: 1, numRuns: 500 },
  )
})
