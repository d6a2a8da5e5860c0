import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Entry, Heap } from './heap.ts'

// A fixed seed: the same cases in every run.
fc.configureGlobal({ seed: 1 })

interface Thing {
  id: number
  key: number
  tie: number
}

const key = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.double({ noNaN: true }))
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('push' as const), key, which: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('put' as const), key, which: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('remove' as const, 'pop' as const), key, which: fc.nat() }),
  },
)

const inOrder = (things: Iterable<Thing>) => [...things].sort((a, b) => a.key - b.key || a.tie - b.tie)

test('behaves like a sorted array under any sequence of operations', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const heap = new Heap<Thing>()
      const entries: Entry<Thing>[] = []
      const model = new Set<Thing>()
      for (const { do: what, key, which } of steps) {
        const entry = entries[which % (entries.length || 1)]
        if (what === 'push') {
          const thing = { id: entries.length, key, tie: entries.length }
          entries.push(heap.push(thing, key, thing.tie))
          model.add(thing)
        } else if (what === 'pop') {
          const first = inOrder(model)[0]
          assert.equal(heap.pop(), first)
          if (first) model.delete(first)
        } else if (entry && what === 'put') {
          entry.item.key = key
          heap.put(entry, key, entry.item.tie)
          model.add(entry.item)
        } else if (entry) {
          heap.remove(entry)
          heap.remove(entry)
          model.delete(entry.item)
        }
        const sorted = inOrder(model)
        assert.equal(heap.size, sorted.length)
        assert.equal(heap.top(), sorted[0])
        assert.equal(heap.topKey(), sorted[0]?.key ?? Infinity)
        for (const entry of entries) {
          assert.equal(entry.at >= 0, model.has(entry.item))
          if (entry.at >= 0) assert.equal(heap.keyOf(entry), entry.item.key)
        }
      }
      assert.deepEqual(new Set(heap), model)
      assert.deepEqual(inOrder([...heap.entries()].map(({ item }) => item)), inOrder(model))
    }),
    { numRuns: 200 },
  )
})

test('find returns the first accepted item within the limit, and changes nothing', () => {
  fc.assert(
    fc.property(
      fc.array(key, { maxLength: 100 }),
      fc.integer({ min: 1, max: 120 }),
      fc.integer({ min: 1, max: 20 }),
      (keys, limit, every) => {
        const heap = new Heap<Thing>()
        const things = keys.map((key, id) => ({ id, key, tie: id }))
        for (const thing of things) heap.push(thing, thing.key, thing.tie)
        const accept = (thing: Thing) => thing.id % every === every - 1
        const looked: Thing[] = []
        const found = heap.find((thing) => {
          looked.push(thing)
          return accept(thing)
        }, limit)
        assert.equal(found, inOrder(things).slice(0, limit).find(accept))
        assert.deepEqual(looked, inOrder(things).slice(0, looked.length))
        assert.equal(heap.size, things.length)
      },
    ),
    { numRuns: 300 },
  )
})

test('unique ties make the order of removal independent of the order of insertion', () => {
  const shuffled = fc
    .array(fc.integer({ min: 0, max: 3 }), { maxLength: 60 })
    .chain((keys) =>
      fc.tuple(fc.constant(keys), fc.shuffledSubarray([...keys.keys()], { minLength: keys.length })),
    )
  fc.assert(
    fc.property(shuffled, ([keys, order]) => {
      const heap = new Heap<number>()
      for (const id of order) heap.push(id, keys[id]!, id)
      const removed = Array.from(keys, () => heap.pop()!)
      const expected = [...keys.keys()].sort((a, b) => keys[a]! - keys[b]! || a - b)
      assert.deepEqual(removed, expected)
    }),
  )
})

test('an empty heap returns nothing', () => {
  const heap = new Heap<string>()
  assert.equal(heap.top(), undefined)
  assert.equal(heap.pop(), undefined)
  assert.equal(heap.topKey(), Infinity)
  assert.equal(
    heap.find(() => true, 10),
    undefined,
  )
})
