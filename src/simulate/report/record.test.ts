import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stream } from '../../lib/random.ts'
import { poisson } from '../arrivals.ts'
import { simulate, unitsPerSecond } from '../simulate.ts'
import { exponential } from '../sizes.ts'
import { Histogram } from './histogram.ts'
import { PolicyRecord } from './record.ts'
import { Timeline } from './timeline.ts'

const near = (actual: number, expected: number, share: number) =>
  assert.ok(Math.abs(actual / expected - 1) < share, `${actual} is not ${expected} ± ${share * 100} %`)

test('quantiles of a histogram are close to those of its values, and exact if all are equal', () => {
  const random = stream(1, 'x')
  const values = Array.from({ length: 20_000 }, () => Math.exp(3 * random.normal())).sort((a, b) => a - b)
  const histogram = new Histogram()
  for (const value of values) histogram.add(value)
  for (const q of [0.01, 0.5, 0.99]) near(histogram.quantile(q), values[q * values.length]!, 0.06)
  const ones = new Histogram()
  for (let i = 0; i < 3; i++) ones.add(1)
  assert.equal(ones.quantile(0.5), 1)
  assert.ok(Number.isNaN(new Histogram().quantile(0.5)))
})

test('a cumulative distribution starts at 0, ends at the total, and never decreases', () => {
  const histogram = new Histogram()
  for (const value of [0, 1, 1, 50, 1e30]) histogram.add(value)
  const points = histogram.cumulative()
  assert.equal(points[0]![1], 0)
  assert.equal(points.at(-1)![1], 5)
  for (let i = 1; i < points.length; i++) {
    assert.ok(points[i]![0] > points[i - 1]![0])
    assert.ok(points[i]![1] >= points[i - 1]![1])
  }
  assert.deepEqual(new Histogram().cumulative(), [])
})

test('a timeline of any length keeps its means', () => {
  for (const totalMs of [10, 1000, 1e9]) {
    const timeline = new Timeline(2)
    timeline.set(0, 4, 1)
    timeline.set(totalMs / 2, 8, 1)
    timeline.set(totalMs, 0, 0)
    const points = timeline.means(0, totalMs)
    assert.ok(points.length <= 256)
    assert.equal(points[0]![1], 4)
    assert.equal(points.at(-1)![1], 8)
    near(points.reduce((sum, [, mean]) => sum + mean, 0) / points.length, 6, 0.02)
    for (const [, mean] of timeline.means(1, totalMs)) near(mean, 1, 1e-9)
  }
})

test('a record agrees with its run: Little’s law, the load, and the fleet', () => {
  const [jobs, perSecond, cores] = [20_000, 1.4, 2]
  const record = new PolicyRecord('least-connections', jobs)
  const run = simulate(
    {
      brain: {
        scheduler: 'least-connections',
        discipline: 'sharing',
        scale: { min: 1, max: 1 },
        epoch: 1,
        seed: 1,
        limits: {},
      },
      fleet: { cores, workPerSecond: unitsPerSecond, memoryMb: 1000, slots: 1000, bootMs: 0 },
      seed: 1,
      jobs,
      arrivals: poisson(perSecond),
      sizes: exponential(1),
      errorSigma: 0,
    },
    record.hooks(true),
  )
  const { meanResponseMs, jobs: answered } = run.summary()
  assert.equal(record.responseMs.count, answered)
  const mean = (points: [number, number][]) =>
    points.reduce((sum, [, value]) => sum + value, 0) / points.length
  const busy = mean(record.busyCores())
  near(busy, perSecond, 0.03)
  near(mean(record.waiting()) + busy, (jobs / record.untilMs) * meanResponseMs, 0.03)
  for (const [, ready] of record.readyCores()) near(ready, cores, 1e-9)
  near(record.responseMs.quantile(0.5), run.summary().p50ResponseMs, 0.06)
  const slowdowns = record.slowdowns()
  assert.ok(slowdowns.length > 5)
  for (const { median, p99 } of slowdowns) assert.ok(median >= 1 && (p99 === undefined || p99 >= median))
})

test('timelines end when the last job has arrived', () => {
  const record = new PolicyRecord('srpt', 3)
  simulate(
    {
      brain: {
        scheduler: 'srpt',
        discipline: 'srpt',
        scale: { min: 1, max: 1 },
        epoch: 1,
        seed: 1,
        limits: {},
      },
      fleet: { cores: 1, workPerSecond: unitsPerSecond, memoryMb: 1000, slots: 10, bootMs: 0 },
      seed: 1,
      jobs: 3,
      arrivals: { name: 'every 10 ms', next: (after) => after + 10 },
      sizes: { name: 'an hour', meanSeconds: 3600, draw: () => 3600 },
      errorSigma: 0,
    },
    record.hooks(true),
  )
  assert.equal(record.untilMs, 30)
  assert.ok(record.waiting().every(([ms]) => ms < 30))
})
