import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '../../lib/errors.ts'
import { stream } from '../../lib/random.ts'
import { exponential } from '../sizes.ts'
import { partOf } from './part.ts'
import type { Trace } from './trace.ts'
import { type TrafficOptions, trafficOf } from './traffic.ts'

/** A job every 100 ms, the first after 1 s, with sizes of 10, 20, 30, … ms. */
function jobs(count: number): Trace {
  const atMs = Float64Array.from({ length: count }, (_, i) => 1000 + 100 * i)
  const seconds = atMs.map((_, i) => (i + 1) / 100)
  const known = Array.from(seconds, (each) => ({ workload: 'w', work: each * 1e6, memoryMb: 0 }))
  const recorded = { kind: 'jobs', atMs, seconds, known } as const
  return { name: 't', format: 'f', dated: false, beginsMs: 0, recorded, notes: [] }
}

const day = Date.UTC(1998, 5, 30)
function minutes(...counts: number[]): Trace {
  const atMs = Float64Array.from(counts, (_, i) => day + 60_000 * i)
  const recorded = { kind: 'counts', atMs, counts: Float64Array.from(counts), stretchMs: 60_000 } as const
  return { name: 't', format: 'f', dated: true, beginsMs: day, recorded, notes: [] }
}

/** All arrivals of one run, with their sizes. */
function all(trace: Trace, options: TrafficOptions, seed = 1): { atMs: number[]; seconds: number[] } {
  const { arrivals, sizes, jobs: most } = trafficOf(trace, options).run()
  const [drawsOfTimes, drawsOfSizes] = [stream(seed, 'arrivals'), stream(seed, 'sizes')]
  const atMs: number[] = []
  const seconds: number[] = []
  for (let at = 0; atMs.length < most; ) {
    at = arrivals.next(at, drawsOfTimes)
    if (at === Infinity) break
    atMs.push(at)
    seconds.push(sizes.draw(drawsOfSizes))
  }
  return { atMs, seconds }
}

const near = (actual: number, expected: number, share: number) =>
  assert.ok(Math.abs(actual / expected - 1) < share, `${actual} is not ${expected} ± ${share * 100} %`)

test('without a load, a trace keeps its recorded times and sizes', () => {
  assert.deepEqual(all(jobs(3), { cores: 1 }), { atMs: [1000, 1100, 1200], seconds: [0.01, 0.02, 0.03] })
  const traffic = trafficOf(jobs(3), { cores: 1 })
  assert.deepEqual([traffic.jobs, traffic.stretch, traffic.load], [3, 1, 0.06 / 0.2])
})

test('a load is reached by stretching time', () => {
  const traffic = trafficOf(jobs(3), { cores: 2, load: 0.3 })
  assert.equal(traffic.load, 0.3)
  near(traffic.stretch, 0.5, 1e-9)
  near(all(jobs(3), { cores: 2, load: 0.3 }).atMs[2]!, 600, 1e-9)
})

test('for the first jobs of a trace, the load is that of these jobs', () => {
  const traffic = trafficOf(jobs(100), { cores: 1, jobs: 3 })
  near(traffic.load, 0.06 / 0.2, 1e-9)
  assert.equal(all(jobs(100), { cores: 1, jobs: 3 }).atMs.length, 3)
})

test('thinning keeps each request with the given probability, and its size', () => {
  const { atMs, seconds } = all(jobs(10_000), { cores: 1, thin: 0.1 })
  near(atMs.length, 1000, 0.1)
  for (let i = 0; i < atMs.length; i++) near(seconds[i]!, (atMs[i]! / 100 - 9) / 100, 1e-9)
  assert.deepEqual(all(jobs(10_000), { cores: 1, thin: 0.1 }).atMs, atMs)
  assert.notDeepEqual(all(jobs(10_000), { cores: 1, thin: 0.1 }, 2).atMs, atMs)
})

test('given sizes replace the recorded ones, and the recorded estimates', () => {
  const sizes = exponential(2)
  const traffic = trafficOf(jobs(1001), { cores: 1, sizes })
  near(traffic.load, (1001 * 2) / 100, 1e-9)
  assert.equal(traffic.run().sizes, sizes)
  assert.equal(traffic.run().known, undefined)
})

test('recorded estimates are used, unless they are to be forgotten', () => {
  const run = trafficOf(jobs(2), { cores: 1 }).run()
  const random = stream(1, 'x')
  for (const work of [10_000, 20_000]) {
    run.arrivals.next(0, random)
    assert.equal(run.known!().work, work)
  }
  assert.equal(trafficOf(jobs(2), { cores: 1, forget: true }).run().known, undefined)
})

test('counts become as many arrivals, in order, each inside its minute', () => {
  const { atMs } = all(minutes(1000, 0, 3000), { cores: 1, sizes: exponential() })
  assert.equal(atMs.length, 4000)
  assert.deepEqual(
    atMs,
    atMs.toSorted((a, b) => a - b),
  )
  assert.equal(atMs.filter((at) => at < 60_000).length, 1000)
  assert.equal(atMs.filter((at) => at >= 120_000 && at < 180_000).length, 3000)
  near(atMs.slice(0, 1000).reduce((sum, at) => sum + at, 0) / 1000, 30_000, 0.05)
})

test('a load is reached by scaling the counts, up or down, and a day stays a day', () => {
  const trace = minutes(6000, 60_000, 6000)
  // 400 requests per second of 1 s on average: at load 0.5, 4 cores serve two per second.
  for (const [load, scale] of [
    [0.5, 0.005],
    [250, 2.5],
  ] as const) {
    const options = { cores: 4, load, sizes: exponential(1) }
    const traffic = trafficOf(trace, options)
    near(traffic.scale, scale, 1e-9)
    assert.equal(traffic.stretch, 1)
    const { atMs } = all(trace, options)
    near(atMs.length, 72_000 * scale, 0.2)
    near(atMs.length, traffic.jobs, 0.2)
    near(atMs.filter((at) => at >= 60_000 && at < 120_000).length, 60_000 * scale, 0.2)
  }
})

test('if the share of counts is given, a load is reached by stretching time', () => {
  const traffic = trafficOf(minutes(6000, 6000), { cores: 4, load: 0.5, thin: 0.01, sizes: exponential(1) })
  assert.equal(traffic.scale, 0.01)
  near(traffic.stretch, 0.5, 1e-9)
})

test('a load that cannot be reached is rejected', () => {
  const once = jobs(1)
  assert.throws(() => trafficOf(once, { cores: 1, load: 0.5 }), {
    code: 'CONFIG',
    message: /--load = 0.5: cannot be reached, because the jobs of t all arrive at one instant/,
  })
  assert.equal(trafficOf(once, { cores: 1 }).load, Infinity)
  const nothing = { name: 'nothing', meanSeconds: 0, draw: () => 0 }
  assert.throws(() => trafficOf(minutes(1), { cores: 1, load: 0.5, sizes: nothing }), /need no work/)
  assert.throws(() => trafficOf(minutes(0, 0), { cores: 1, sizes: exponential() }), {
    message: 't: all counts are 0',
  })
  assert.throws(() => trafficOf(minutes(1), { cores: 1 }), { message: /so sizes must be given/ })
})

test('a part by time: by seconds since the recording began, or by date', () => {
  assert.deepEqual([...partOf(jobs(5), { from: '1.1', until: '1.3' }).recorded.atMs], [1100, 1200])
  const days = minutes(1, 2, 3)
  const part = partOf(days, { from: '1998-06-30 00:01', until: '1998-06-30T00:02:00Z' }).recorded
  assert.deepEqual(part.kind === 'counts' && [...part.counts], [2])
  assert.equal(partOf(days, { from: '1990-01-01' }).beginsMs, day, 'the run starts at the first row')
  assert.equal(partOf(days, { from: '60' }).recorded.atMs.length, 2)
  assert.equal(partOf(days, { from: '1998-06-30' }).recorded.atMs.length, 3)
  const late = partOf(jobs(5), { from: '1.25' })
  assert.deepEqual(all(late, { cores: 1 }).atMs, [50, 150])
  const { recorded } = late
  assert.equal(recorded.kind === 'jobs' && recorded.known![0]!.work, 40_000)
})

test('an invalid part is rejected; the error says what is allowed', () => {
  const refuses = (trace: Trace, window: { from?: string; until?: string }, message: string) =>
    assert.throws(() => partOf(trace, window), new ConfigError(message))
  refuses(jobs(5), { from: 'noon' }, '--from = noon: must be seconds since the trace begins')
  refuses(jobs(5), { until: '-1' }, '--until = -1: must be seconds since the trace begins')
  refuses(
    jobs(5),
    { from: '1998-06-30' },
    '--from = 1998-06-30: must be seconds since the trace begins (t has no dates)',
  )
  refuses(
    minutes(1),
    { from: '30.6.' },
    '--from = 30.6.: must be seconds since the trace begins, or a date (UTC) such as 1998-06-30 or 1998-06-30T14:30',
  )
  refuses(
    jobs(5),
    { from: '3', until: '2' },
    '--from = 3, --until = 2: no traffic in between; t goes from 1 s to 1.4 s',
  )
})

test('a trace whose times are 0 and -0 has no negative load', () => {
  const trace = jobs(2)
  const recorded = { ...trace.recorded, atMs: Float64Array.of(0, -0) } as Trace['recorded']
  assert.equal(trafficOf({ ...trace, recorded }, { cores: 1 }).load, Infinity)
})
