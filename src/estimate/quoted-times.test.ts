/** Quoted times against the times that simulated requests then take. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Random, stream } from '../lib/random.ts'
import type { Quote } from './estimator.ts'
import { Overheads, type Took } from './overheads.ts'
import { quoteDocument } from './quote.ts'
import { FleetRates } from './rates.ts'
import { question } from './testing/question.ts'

/** Work per millisecond that is announced, and that the machine does. */
const nominal = 8_000_000
const real = 5_000_000

interface Machine {
  /** Part of its time for which other processes take a core from a request. */
  others: number
  /** Part of the requests that wait for a core. */
  waiting: number
}

/** CPU times in milliseconds, by workload. */
const workloads = {
  short: (random: Random) => Math.exp(0.7 * random.normal()),
  long: (random: Random) => 500 * Math.exp(0.7 * random.normal()),
  mixed: (random: Random) => (random.next() < 0.5 ? 1 : 500) * Math.exp(0.7 * random.normal()),
}
type Name = keyof typeof workloads

/** A request whose work is known when it is quoted. */
function request(name: Name, random: Random, { others, waiting }: Machine): Took & { tookMs: number } {
  const workMs = workloads[name](random)
  const cpuMs = workMs * Math.exp(0.05 * random.normal()) + 0.3 + 0.3 * random.exponential()
  const pathMs = 2 * Math.exp(0.5 * random.normal())
  const tookMs = cpuMs * (1 + others * 2 * random.next()) + pathMs
  const waited = random.next() < waiting
  const wallMs = waited ? tookMs + 1_000 * random.exponential() : tookMs
  return { work: workMs * real, cpuMs, wallMs, undisturbedMs: waited ? undefined : tookMs, tookMs }
}

/** The quote in seconds of a long request of 0.5 s, after this many. */
function quotedAfter(count: number, machine: Machine) {
  const random = stream(2, 'quoted times')
  const rates = new FleetRates(nominal * 1000)
  const overheads = new Overheads(nominal)
  for (let i = 0; i < count; i++) {
    const took = request('long', random, machine)
    rates.learn('', 'long', took.work, took.cpuMs)
    overheads.learn('long', took, rates.of('', 'long') / 1000)
  }
  return secondsOf('long', 500 * real, rates, overheads)
}

/** The part of the requests that take the time that they were quoted, by workload, after a few of each. */
function coverage(machine: Machine): Record<Name, number> {
  const random = stream(1, 'quoted times')
  const rates = new FleetRates(nominal * 1000)
  const overheads = new Overheads(nominal)
  const inside = { short: 0, long: 0, mixed: 0 }
  const [learned, counted] = [40, 1_000]
  for (let i = 0; i < learned + counted; i++)
    for (const name of Object.keys(workloads) as Name[]) {
      const { tookMs, ...took } = request(name, random, machine)
      const { low, high } = secondsOf(name, took.work, rates, overheads)
      if (i >= learned && tookMs >= low * 1000 && tookMs <= high * 1000) inside[name]++
      rates.learn('', name, took.work, took.cpuMs)
      overheads.learn(name, took, rates.of('', name) / 1000)
    }
  return { short: inside.short / counted, long: inside.long / counted, mixed: inside.mixed / counted }
}

function secondsOf(workload: Name, work: number, rates: FleetRates, overheads: Overheads) {
  const overhead = overheads.of(workload, rates.seconds('', workload, work) * 1000)
  const quote: Quote = {
    ...{ work, low: work, high: work, memoryMb: 1, source: 'memo', reason: { code: 'memo' } },
    overhead,
  }
  return quoteDocument(question({}, { workload }), quote, {
    ...{ view: { workers: [], waiting: [] }, rates, discipline: 'srpt', pricePerHour: undefined },
    ...{ jobOf: () => undefined, overheadOf: () => undefined, explain: () => '' },
  }).seconds
}

const machines: Record<string, Machine> = {
  'on a quiet machine': { others: 0, waiting: 0 },
  'on a machine that other processes use too': { others: 0.5, waiting: 0 },
  'while most requests wait for a core': { others: 0.1, waiting: 0.8 },
}

test('quoted times of exactly known work span less than a factor of 1.4 for long requests', () => {
  const { low, high } = quotedAfter(1_000, machines['on a quiet machine']!)
  assert.ok(high / low < 1.4, `${low} to ${high}`)
})

test('time that all requests waited is not part of quoted times', () => {
  const { expected, high } = quotedAfter(1_000, { others: 0, waiting: 1 })
  assert.ok(expected > 0.5 && high < 0.7, `${expected}, up to ${high}`)
})

for (const [name, machine] of Object.entries(machines)) {
  test(`nine of ten requests that do not wait take the time that was quoted, ${name}`, () => {
    for (const [workload, part] of Object.entries(coverage(machine))) {
      // The rate of long requests always has an error of at least 10 %, so more of them may lie inside.
      const most = workload === 'short' ? 0.95 : 1
      assert.ok(part >= 0.87 && part <= most, `${workload}: ${part}`)
    }
  })
}
