import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '../lib/errors.ts'
import type { Job } from '../model/job.ts'
import type { WorkerView } from '../model/view.ts'
import type { Quote } from './estimator.ts'
import { checkPrice, type Present, quoteDocument } from './quote.ts'
import { FleetRates, type Rates } from './rates.ts'
import { question } from './testing/question.ts'

const quoted: Quote = {
  work: 1000,
  low: 500,
  high: 4000,
  memoryMb: 64,
  source: 'memo',
  reason: { code: 'memo', repeats: 3 },
}

/** Jobs with their remaining work, and whether they may be paused. */
type Held = [id: string, remaining: number, preemptible?: boolean][]

function worker(id: string, cores: number, held: Held = [], rest: Partial<WorkerView> = {}): WorkerView {
  const jobs = held.map(([job, remaining], i) => ({
    job,
    attempt: 1,
    running: i < cores,
    done: 0,
    remaining,
  }))
  const outstanding = held.reduce((sum, [, remaining]) => sum + remaining, 0)
  const memory = { memoryMb: 1000, usedMemoryMb: 0 }
  return {
    id,
    cores,
    slots: 9,
    state: 'ready',
    suspect: false,
    fresh: false,
    ...memory,
    cpu: null,
    figures: {},
    outstanding,
    jobs: jobs.map((job) => ({ ...job, predicted: job.remaining, ranMs: 0 })),
    ...rest,
  }
}

/** The same rates, without a range. */
function exact(rates: Rates): Rates {
  return { of: (id, workload) => rates.of(id, workload) }
}

/** A core does 100 units per second unless `rates` is given. */
function ask(workers: WorkerView[], { waiting = [], ...rest }: Partial<Present> & { waiting?: Held } = {}) {
  const held = [...waiting, ['stubborn', 0, false] as const]
  const jobs = new Map<string, Job>(
    held.map(([id, work, preemptible = true]) => [
      id,
      { id, workload: 'made-up', work, memoryMb: 1, preemptible },
    ]),
  )
  return quoteDocument(question(), quoted, {
    view: { workers, waiting: waiting.map(([id]) => id) },
    rates: exact(new FleetRates(100)),
    discipline: 'srpt',
    jobOf: (id) => jobs.get(id),
    overheadOf: () => undefined,
    pricePerHour: undefined,
    explain: ({ code }) => code,
    ...rest,
  })
}

const waitOf = (...args: Parameters<typeof ask>) => ask(...args).waitSeconds

test('a quote holds work, interval, memory, source and reason', () => {
  const { seconds: _, waitSeconds: __, ...rest } = ask([worker('w1', 1)])
  assert.deepEqual(rest, {
    workload: 'made-up',
    ...quoted,
    why: 'memo',
  })
})

test('seconds follow from the rates of the ready workers', () => {
  assert.deepEqual(ask([worker('w1', 1)]).seconds, { expected: 10, low: 5, high: 40 })
  const rates = new FleetRates(100)
  for (let i = 0; i < 10; i++) {
    rates.learn('fast', 'made-up', 400, 1000)
    rates.learn('slow', 'made-up', 50, 1000)
  }
  const mixed = ask([worker('fast', 3), worker('slow', 1)], { rates: exact(rates) })
  const { expected, low, high } = mixed.seconds
  const factors = [expected / ((3 * 2.5 + 20) / 4), low / 1.25, high / 80]
  for (const factor of factors) assert.ok(Math.abs(factor - 1) < 0.02, `${factors}`)
  assert.deepEqual(ask([]).seconds, { expected: 10, low: 5, high: 40 })
})

test('the interval of seconds allows for errors of the rate, which become smaller as it is measured', () => {
  const rates = new FleetRates(100)
  const width = () => {
    const { low, high } = ask([worker('w1', 1)], { rates }).seconds
    return high / low
  }
  // The interval of the work alone.
  const exactly = 8
  const first = width()
  assert.ok(first > 1.5 * exactly, `${first}`)
  for (let i = 0; i < 100; i++) rates.learn('w1', 'made-up', 10, 100)
  assert.ok(width() > exactly && width() < 1.05 * exactly, `${width()}`)
})

test('the wait is 0 if a core is free', () => {
  assert.equal(waitOf([worker('w1', 2, [['a', 900]])]), 0)
  assert.equal(waitOf([worker('w1', 1, [['a', 900]]), worker('w2', 1)]), 0)
})

test('under SRPT, longer jobs are not ahead unless they cannot be paused', () => {
  assert.equal(waitOf([worker('w1', 1, [['a', 5000]])]), 0)
  assert.equal(waitOf([worker('w1', 1, [['stubborn', 5000]])]), 50)
  assert.equal(
    waitOf(
      [
        worker('w1', 1, [
          ['a', 300],
          ['b', 5000],
        ]),
      ],
      {
        waiting: [
          ['c', 1000],
          ['d', 1001],
        ],
      },
    ),
    13,
  )
})

test('the work ahead is divided by all cores', () => {
  const busy = worker('w1', 2, [
    ['a', 300],
    ['b', 500],
    ['c', 400],
  ])
  assert.equal(waitOf([busy, worker('w2', 1, [['d', 600]])]), 6)
})

test('under FIFO all work is ahead; under sharing, as much of each job as the request needs', () => {
  const busy = [
    worker('w1', 1, [
      ['a', 5000],
      ['b', 100],
    ]),
  ]
  assert.equal(waitOf(busy, { discipline: 'fifo' }), 51)
  assert.equal(waitOf(busy, { discipline: 'sharing' }), 11)
})

test('the overhead of a job ahead counts as a time, whatever the rate of its workload', () => {
  const rates = new FleetRates(100)
  rates.learn('w1', 'nap', 1, 10_000)
  const overheadOf = () => ({ low: 1000, expected: 2000, high: 3000, work: 200 })
  const jobOf = () => ({ id: 'a', workload: 'nap', work: 201, memoryMb: 0 })
  const wait = waitOf([worker('w1', 1, [['a', 201]])], { rates, overheadOf, jobOf })!
  assert.ok(Math.abs(wait - 12) < 0.02, `${wait}`)
})

test('a tiny request on a new worker leaves the quotes of large ones as they are', () => {
  const rates = new FleetRates(100)
  rates.learn('w1', 'made-up', 1600, 1600)
  const both = [worker('w1', 1), worker('w2', 1)]
  const before = ask(both, { rates }).seconds
  rates.learn('w2', 'made-up', 1e-6, 1)
  const after = ask(both, { rates }).seconds
  for (const side of ['expected', 'low', 'high'] as const)
    assert.ok(Math.abs(after[side] / before[side] - 1) < 0.02, `${side}: ${before[side]}, ${after[side]}`)
})

test('the wait is unknown without a ready worker', () => {
  const gone = [worker('w1', 1, [], { suspect: true }), worker('w2', 1, [], { state: 'draining' })]
  assert.equal(waitOf(gone), null)
  assert.equal(waitOf([]), null)
})

test('the price follows from seconds and the price per core', () => {
  assert.equal(ask([worker('w1', 1)]).price, undefined)
  assert.deepEqual(ask([worker('w1', 4)], { pricePerHour: 3.6 }).price, {
    expected: 0.0025,
    low: 0.00125,
    high: 0.01,
  })
  assert.equal(ask([], { pricePerHour: 3.6 }).price?.expected, 0.01)
})

test('an invalid price is rejected by name', () => {
  for (const wrong of [-1, NaN, Infinity]) assert.throws(() => checkPrice(wrong), ConfigError)
  checkPrice(undefined)
  checkPrice(0)
})
