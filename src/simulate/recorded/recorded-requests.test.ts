import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stream } from '../../lib/random.ts'
import { type MixedRequest, RecordedRequests } from './recorded-requests.ts'

const requests: MixedRequest[] = Array.from({ length: 40 }, (_, i) => ({
  ...{ workload: i % 2 === 0 ? 'even' : 'odd', params: { i }, features: { i }, work: 100 * (i + 1) },
}))

function draws(seed: number, count: number) {
  const drawn = new RecordedRequests(requests, 1000, seed)
  const random = stream(seed, 'draws')
  return Array.from({ length: count }, () => {
    const seconds = drawn.sizes.draw(random)
    const { request, question } = drawn.last
    return { seconds, work: request.work, key: question.key, params: question.params }
  })
}

test('each draw is a recorded request, with its own size', () => {
  for (const { seconds, work, params } of draws(1, 200)) {
    assert.equal(seconds, work / 1000)
    assert.equal(work, 100 * ((params as { i: number }).i + 1))
  }
})

test('half of the requests repeat an earlier one; new ones go through the whole recording', () => {
  const byKey = new Map<string, number>()
  let known = 0
  const all = draws(2, 4000)
  for (const { key, work } of all) {
    if (byKey.has(key)) known++
    assert.equal(byKey.get(key) ?? work, work)
    byKey.set(key, work)
  }
  assert.ok(Math.abs(known / all.length - 0.5) < 0.05)
  const firstPass = [...byKey.values()].slice(0, requests.length)
  assert.equal(new Set(firstPass).size, requests.length)
})

test('the maps of each pass through the recording are new', () => {
  const onMaps = requests.map((request, map) => ({ ...request, params: { map } }))
  const drawn = new RecordedRequests(onMaps, 1000, 1)
  const random = stream(1, 'draws')
  const keys = new Map<unknown, string>()
  for (let i = 0; i < 400; i++) {
    drawn.sizes.draw(random)
    const { key, params } = drawn.last.question
    const { map } = params as { map: number }
    assert.equal(keys.get(map) ?? key, key)
    keys.set(map, key)
  }
  assert.ok(keys.size > 3 * requests.length)
})

test('the mean size is that of the recording', () => {
  const { sizes } = new RecordedRequests(requests, 1000, 3)
  assert.equal(sizes.meanSeconds, 2.05)
})

test('the same seed gives the same requests, another one other requests', () => {
  assert.deepEqual(draws(4, 50), draws(4, 50))
  assert.notDeepEqual(draws(4, 50), draws(5, 50))
})
