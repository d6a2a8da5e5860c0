import assert from 'node:assert/strict'
import test from 'node:test'
import { HeldWorkers } from './held-workers.ts'

function holding(...fronts: string[]) {
  const joined = new Set(fronts)
  const told: string[] = []
  const held = new HeldWorkers({
    joined: () => [...joined],
    tell: (event) => event.type === 'held' && told.push(`${event.worker} ${event.held}`),
  })
  let seq = 0
  const order = (...ids: string[]) => held.ordered({ seq: ++seq, workers: ids.map((id) => ({ id })) })
  const gone = (front: string) => {
    joined.delete(front)
    held.standing(front, undefined)
  }
  return { held, told, order, joined, gone }
}

test('a worker is held until all fronts follow an order without it, and have nothing there', () => {
  const { held, told, order } = holding('f', 'g')
  order('a')
  order('b')
  held.standing('f', { seq: 1, workers: [] })
  held.standing('f', { seq: 2, workers: ['a'] })
  held.standing('g', { seq: 2, workers: [] })
  assert.deepEqual(told.splice(0), ['a true', 'b true'])
  held.standing('f', { seq: 2, workers: [] })
  assert.deepEqual(told, ['a false'])
})

test('a worker that is named again stays held', () => {
  const { held, told, order } = holding('f')
  order('a')
  order()
  order('a')
  held.standing('f', { seq: 3, workers: [] })
  assert.deepEqual(told, ['a true'])
})

test('a front that is gone holds nothing', () => {
  const { held, told, order, gone } = holding('f', 'g')
  order('a')
  order()
  held.standing('f', { seq: 2, workers: ['a'] })
  held.standing('g', { seq: 2, workers: [] })
  gone('f')
  assert.deepEqual(told, ['a true', 'a false'])
})

test('without fronts, nothing is held for long', () => {
  const { told, order } = holding()
  order('a')
  order()
  assert.deepEqual(told, ['a true', 'a false'])
})

test('a brain that was started again learns what its fronts still do', () => {
  const { held, told } = holding('f')
  held.standing('f', { seq: 0, workers: ['a'] })
  held.standing('f', { seq: 0, workers: [] })
  assert.deepEqual(told, ['a true', 'a false'])
})
