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
  rates.learn('w1', 'julia', 5000, 1000)
  near(rates.of('w1', 'julia'), 5000)
  near(rates.of('w2', 'julia'), 5000)
  near(rates.of('w1', 'shop'), 5000)
  assert.equal(rates.of('w2', 'shop'), 1000)
  rates.learn('w2', 'julia', 20_000, 1000)
  near(rates.of('w1', 'julia'), 5000)
  near(rates.of('w2', 'julia'), 20_000)
  near(rates.seconds('w2', 'julia', 60_000), 3)
})

test('a tiny job on a new worker leaves the rate of its workload as it is', () => {
  for (const tinyFirst of [true, false]) {
    const rates = new FleetRates(8e9)
    const large = () => rates.learn('w1', 'factorize', 65e9 * 1.6, 1600)
    const tiny = () => rates.learn('w2', 'factorize', 500, 1)
    for (const learn of tinyFirst ? [tiny, large] : [large, tiny]) learn()
    for (const worker of ['w1', 'w2', 'w3']) {
      near(rates.of(worker, 'factorize'), 65e9)
      assert.ok(rates.sigma(worker, 'factorize') < 0.2, `${rates.sigma(worker, 'factorize')}`)
    }
  }
})

test('thousands of tiny jobs say little of large ones, and leave the rate of large ones as it is', () => {
  const rates = new FleetRates(8e9)
  for (let i = 0; i < 5000; i++) rates.learn('w1', 'factorize', 500, 1)
  const rate = rates.of('w1', 'factorize')
  assert.ok(rate > 8e9 / 2, `${rate}`)
  assert.ok(rates.sigma('w1', 'factorize') > 0.5)
  for (let i = 0; i < 3; i++) rates.learn('w1', 'factorize', 65e9 * 1.6, 1600)
  for (let i = 0; i < 5000; i++) rates.learn('w1', 'factorize', 500, 1)
  near(rates.of('w1', 'factorize'), 65e9, 0.15)
})

test('what a worker was measured at counts by the CPU time of the measurements', () => {
  const rates = new FleetRates(1000)
  for (let i = 0; i < 10; i++) rates.learn('w1', 'julia', 1000, 1000)
  rates.learn('w2', 'julia', 20, 50)
  const first = rates.of('w2', 'julia')
  assert.ok(first > 500 && first < 900, `${first}`)
  for (let i = 0; i < 40; i++) rates.learn('w2', 'julia', 20, 50)
  near(rates.of('w2', 'julia'), 400)
  near(rates.of('w1', 'julia'), 1000)
})

test('what was measured elsewhere counts for the workload, and measurements of the fleet outweigh it', () => {
  const rates = new FleetRates(1000)
  rates.learn('', 'julia', 40, 40)
  rates.learn('', 'shop', 80, 40)
  near(rates.of('w1', 'shop'), 2000, 0.1)
  assert.equal(rates.of('', 'other'), 1000)
  for (let i = 0; i < 3; i++) rates.learn('w1', 'julia', 8000, 1000)
  for (const worker of ['', 'w1', 'w2']) near(rates.of(worker, 'julia'), 8000)
})

test('where each workload has a unit of its own, small jobs say all', () => {
  const rates = new FleetRates(1e6, { ownUnits: true })
  rates.learn('w1', 'render', 50, 1)
  assert.equal(Math.round(rates.of('w1', 'render')), 50_000)
  assert.equal(Math.round(rates.of('w2', 'render')), 50_000)
  assert.equal(rates.of('w1', 'other'), 1e6)
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
