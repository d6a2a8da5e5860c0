import assert from 'node:assert/strict'
import { test } from 'node:test'
import hillclimb from '../../../workloads/hillclimb.ts'
import { ask } from '../testing/ask.ts'
import { similarRequests } from './similar-requests.ts'

test('HC-4 two searches are near by their place on the map, and the side is that of the area', () => {
  const rule = similarRequests()
  const area = { map: 5, width: 400, height: 300, x0: 100, x1: 299, y0: 50, y1: 249, strategy: 'BFS' }
  rule.learn(ask(hillclimb, area), 1000)
  const groupOf = (change: object) => rule.guess(ask(hillclimb, { ...area, ...change }))!.reason.group
  assert.equal(groupOf({ xS: 249 }), 'same-map')
  assert.equal(groupOf({ xS: 250 }), 'similar-size')
  assert.equal(groupOf({ map: 6 }), 'similar-size')
  assert.equal(groupOf({ x0: 280 }), 'same-strategy')
  assert.equal(rule.guess(ask(hillclimb, { ...area, xS: 200 }))!.reason.side, 200)
})
