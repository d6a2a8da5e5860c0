import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FleetRates } from './rates.ts'

// A fixed seed: every run checks the same cases.
fc.configureGlobal({ seed: 1 })

const near = (actual: number, expected: number, share = 0.05) =>
  assert.ok(Math.abs(actual / expected - 1) < share, `${actual} is not about ${expected}`)

test('the rate is of the workload on the worker, else on any worker, else of the worker, else nominal', () => {
  const rates = new FleetRates(1000)
  assert.equal(rates.of('w1', 'julia'), 1000)
  rates.learn('w1', 'julia', 500, 100)
  near(rates.of('w1', 'julia'), 5000)
  near(rates.of('w2', 'julia'), 5000)
  near(rates.of('w1', 'shop'), 5000)
  assert.equal(rates.of('w2', 'shop'), 1000)
  rates.learn('w2', 'julia', 2000, 100)
  near(rates.of('w1', 'julia'), 5000)
  near(rates.of('w2', 'julia'), 20_000)
  near(rates.seconds('w2', 'julia', 60_000), 3)
})

test('a job whose CPU time is mostly unmetered says nothing about other workloads', () => {
  const rates = new FleetRates(1000)
  rates.learn('w1', 'nap', 1, 100)
  near(rates.of('w1', 'nap'), 10)
  assert.equal(rates.of('w1', 'julia'), 1000)
})

test('long jobs have more weight than short ones', () => {
  const rates = new FleetRates(1000)
  for (let i = 0; i < 20; i++) rates.learn('w1', 'julia', 1, 1)
  for (let i = 0; i < 20; i++) rates.learn('w1', 'julia', 4 * 500, 500)
  near(rates.of('w1', 'julia'), 4000, 0.1)
})

test('an outlier by a factor of a million barely moves the rate', () => {
  const rates = new FleetRates(1000)
  for (let i = 0; i < 50; i++) rates.learn('w1', 'julia', 1000 + (i % 7), 100)
  for (const work of [1e9, 1e-3]) rates.learn('w1', 'julia', work, 100)
  near(rates.of('w1', 'julia'), 10_000)
})

test('a lasting change of the rate is followed', () => {
  const rates = new FleetRates(1000)
  for (let i = 0; i < 100; i++) rates.learn('w1', 'julia', 1000, 100)
  for (let i = 0; i < 400; i++) rates.learn('w1', 'julia', 100, 100)
  near(rates.of('w1', 'julia'), 1000)
})

test('a rate is finite and above 0, whatever is measured', () => {
  const value = fc.oneof(fc.double(), fc.constantFrom(0, -1, NaN, Infinity, 5e-324, 1e308))
  fc.assert(
    fc.property(fc.array(fc.tuple(value, value)), (rows) => {
      const rates = new FleetRates(1000)
      for (const [work, cpuMs] of rows) rates.learn('w1', 'julia', work, cpuMs)
      const rate = rates.of('w1', 'julia')
      assert.ok(rate > 0 && rate < Infinity, `${rate}`)
    }),
  )
})
