import assert from 'node:assert/strict'
import test from 'node:test'
import { nominalRate, Rates } from './rates.ts'

test('an unknown workload has the nominal rate', () => {
  const rates = new Rates(nominalRate('off'))
  assert.equal(rates.of('new'), 1000)
  rates.learn('other', 5_000_000, 1000)
  assert.equal(rates.of('new'), 1000)
})

test('a rate is learned mostly from long jobs, and follows a change', () => {
  const rates = new Rates(1000)
  rates.learn('w', 3000 * 5000, 5000)
  rates.learn('w', 10, 1)
  assert.ok(Math.abs(rates.of('w') - 3000) < 30, `${rates.of('w')}`)
  for (let i = 0; i < 10; i++) rates.learn('w', 500 * 5000, 5000)
  assert.ok(Math.abs(rates.of('w') - 500) < 50, `${rates.of('w')}`)
})

test('impossible measurements are ignored', () => {
  const rates = new Rates(1000)
  for (const [work, cpuMs] of [
    [0, 5],
    [5, 0],
    [-1, 5],
    [Number.NaN, 5],
    [5, Infinity],
  ] as const)
    rates.learn('w', work, cpuMs)
  assert.equal(rates.of('w'), 1000)
})
