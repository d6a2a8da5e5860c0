import assert from 'node:assert/strict'
import { test } from 'node:test'
import shop from '../../../workloads/shop.ts'
import { answerCache } from '../../front/cache/answer-cache.ts'
import { presetOf } from '../presets.ts'

test('TI-3 the read cache serves an answer about the catalogue for a second', () => {
  const { cacheBytes } = presetOf('tiered').repeats!
  let now = 0
  const cache = answerCache({ mostBytes: cacheBytes!, now: () => now })
  const answer = { status: 200, fields: {}, body: Buffer.from('[]') }
  cache.put('browse', { answer, account: {}, ageMs: 0 }, shop.cacheMs!)
  now = 999
  assert.ok(cache.get('browse'))
  now = 1000
  assert.equal(cache.get('browse'), undefined)
})
