import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { answerCache, bytesOf } from './answer-cache.ts'

// The same cases in every run, so that a failure is reproducible.
fc.configureGlobal({ seed: 1 })

const mostBytes = 20_000
const key = fc.integer({ min: 0, max: 9 }).map((n) => `key-${n}`)
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('put' as const),
      key,
      bytes: fc.integer({ min: 0, max: 3_000 }),
      header: fc.string({ maxLength: 200 }),
      ageMs: fc.integer({ min: 0, max: 50 }),
      goodMs: fc.constantFrom(1, 60, Infinity),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('get' as const), key }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 40 }) }),
  },
)

interface Known {
  key: string
  body: Buffer
  size: number
  bornAt: number
  goodUntil: number
}

test('the cache behaves like a list in order of use, and never exceeds its size', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      let time = 0
      const cache = answerCache({ mostBytes, mostAgeMs: 100, now: () => time })
      let model: Known[] = []
      const without = (name: string) => model.filter((known) => known.key !== name)
      const bytes = () => model.reduce((sum, { size }) => sum + size, 0)
      for (const now of steps) {
        if (now.do === 'wait') time += now.ms
        else if (now.do === 'get') {
          const known = model.find((each) => each.key === now.key && each.goodUntil > time)
          model = [...without(now.key), ...(known ? [known] : [])]
          const found = cache.get(now.key)
          assert.ok(!(found instanceof Promise))
          assert.deepEqual(found?.answer.body, known?.body)
          if (found) assert.equal(found.ageMs, time - known!.bornAt)
        } else {
          const body = Buffer.alloc(now.bytes, now.key)
          const answer = { status: 200, fields: { header: now.header }, body }
          const account = { 'plimsoll-job': 'j' }
          const bornAt = time - now.ageMs
          const goodUntil = bornAt + Math.min(now.goodMs, 100)
          const size = bytesOf(now.key, answer, account)
          cache.put(now.key, { answer, account, ageMs: now.ageMs }, now.goodMs)
          model = without(now.key)
          if (now.bytes > mostBytes / 8 || goodUntil <= time) continue
          while (bytes() + size > mostBytes) model.shift()
          model.push({ key: now.key, body, size, bornAt, goodUntil })
        }
        const counters = cache.counters()
        assert.equal(counters.bytes, bytes())
        assert.equal(counters.entries, model.length)
        assert.ok(counters.bytes <= mostBytes)
      }
    }),
  )
})

test('a cached slice does not keep the buffer it came from in memory', () => {
  const cache = answerCache({ mostBytes, now: () => 0 })
  const large = Buffer.alloc(1_000_000, 'x')
  const answer = { status: 200, fields: {}, body: large.subarray(5, 10) }
  cache.put('a', { answer, account: {}, ageMs: 0 }, Infinity)
  const found = cache.get('a')
  assert.ok(found && !(found instanceof Promise))
  assert.equal(found.answer.body.toString(), 'xxxxx')
  assert.equal(found.answer.body.buffer.byteLength, 5)
})

test('a cache smaller than any answer stays empty', () => {
  const cache = answerCache({ mostBytes: 100, now: () => 0 })
  cache.put(
    'a',
    { answer: { status: 200, fields: {}, body: Buffer.alloc(0) }, account: {}, ageMs: 0 },
    Infinity,
  )
  assert.deepEqual(cache.counters(), { hits: 0, misses: 0, entries: 0, bytes: 0, mostBytes: 100 })
})
