import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Shedder } from './shedding.ts'

/** A shedder after a minute in which `greedy` used a hundred times the work of `modest`. */
function afterMinute(): Shedder {
  const shedder = new Shedder()
  for (let now = 0; now < 60_000; now += 500) {
    // Works from 1 to 100, for both clients.
    const work = 1 + ((now / 500) % 100)
    shedder.sheds({ client: 'greedy', work: work * 100 }, 0, now)
    shedder.sheds({ client: 'modest', work }, 0, now)
  }
  return shedder
}

/** Whether the next request is shed. */
const isShed = (client: string, work: number, pressure: number) =>
  afterMinute().sheds({ client, work }, pressure, 60_000)

test('nothing is shed without pressure', () => {
  assert.equal(isShed('greedy', 1e9, 0), false)
})

test('under light pressure only expensive requests of clients above their share are shed', () => {
  assert.equal(isShed('greedy', 1e9, 0.2), true)
  assert.equal(isShed('greedy', 1, 0.2), false)
  assert.equal(isShed('modest', 1e9, 0.2), false)
  assert.equal(isShed('unknown', 1e9, 0.2), false)
})

test('under heavy pressure all requests of clients above their share are shed, and expensive ones of others', () => {
  assert.equal(isShed('greedy', 1, 0.7), true)
  assert.equal(isShed('unknown', 1e9, 0.7), true)
  assert.equal(isShed('unknown', 0.5, 0.7), false)
})

test('under full pressure everything is shed', () => {
  for (const client of ['greedy', 'modest', 'unknown']) assert.equal(isShed(client, 1, 1), true)
})

test('of equal requests of a single client, as many are shed as the pressure demands', () => {
  const shedder = new Shedder()
  for (let i = 0; i < 300; i++) shedder.sheds({ client: 'only', work: 5 }, 0, i)
  let shed = 0
  for (let i = 0; i < 1_000; i++) if (shedder.sheds({ client: 'only', work: 5 }, 0.1, 300 + i)) shed++
  assert.ok(shed >= 190 && shed <= 210, `${shed} of 1,000`)
})

test('a single client is shed also between two computations of the mean', () => {
  const shedder = new Shedder()
  shedder.sheds({ client: 'only', work: 5 }, 0, 0)
  for (let now = 0; now < 1_000; now += 30)
    assert.equal(shedder.sheds({ client: 'only', work: 9 }, 0.9, now), true)
})

test('clients are forgotten, by time and by number', () => {
  const shedder = new Shedder()
  for (let i = 0; i < 100_000; i++) shedder.sheds({ client: `client ${i}`, work: 1 }, 0, 0)
  assert.equal(shedder.clients, 1_000)
  shedder.sheds({ client: 'new', work: 1 }, 0.5, 3_600_000)
  assert.ok(shedder.clients <= 1)
})
