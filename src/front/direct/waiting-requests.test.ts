import assert from 'node:assert/strict'
import test from 'node:test'
import { WaitingRequests } from './waiting-requests.ts'

const request = (name: string) => ({ name, isOver: false })

test('requests wait in their order', () => {
  const waiting = new WaitingRequests<ReturnType<typeof request>>(() => 0)
  const [a, b] = [request('a'), request('b')]
  waiting.add(a)
  waiting.add(b)
  assert.equal(waiting.length, 2)
  assert.deepEqual([waiting.next(), waiting.next(), waiting.next()], [a, b, undefined])
  assert.equal(waiting.length, 0)
})

test('a request that is over is left out', () => {
  const waiting = new WaitingRequests<ReturnType<typeof request>>(() => 0)
  const [a, b] = [request('a'), request('b')]
  waiting.add(a)
  waiting.add(b)
  a.isOver = true
  assert.equal(waiting.next(), b)
  waiting.add(a)
  assert.deepEqual(waiting.all(), [])
  assert.equal(waiting.length, 0)
})

test('only requests that have waited for 100 ms are late', () => {
  let now = 0
  const waiting = new WaitingRequests<ReturnType<typeof request>>(() => now)
  const [a, b] = [request('a'), request('b')]
  waiting.add(a)
  now = 50
  waiting.add(b)
  now = 99
  assert.deepEqual(waiting.late(), [])
  now = 100
  assert.deepEqual(waiting.late(), [a])
  assert.equal(waiting.next(), b)
})
