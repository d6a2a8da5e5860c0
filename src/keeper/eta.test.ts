import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stream } from '../lib/random.ts'
import { type EtaSeconds, Etas, type QuotedTimes, type WithEnds } from './eta.ts'

const quote = (expected: number, waitSeconds: number | null = 0, part = 1.2): QuotedTimes => ({
  seconds: { expected, low: expected / part, high: expected * part },
  waitSeconds,
})

const endsOf = (answer: unknown): EtaSeconds => (answer as WithEnds).ends

/** The part of the jobs, after the first 200, that ended within the interval that they were given. */
function covered({ jobs, factor }: { jobs: number; factor(i: number): number }): number {
  const etas = new Etas()
  const random = stream(1, 'jobs')
  let inside = 0
  for (let i = 0; i < jobs; i++) {
    const asked = quote(0.1 * Math.exp(random.normal()), random.next() < 0.5 ? 0 : random.exponential())
    const now = i * 1e6
    const { earliest, expected, latest } = endsOf(etas.accepted(`j${i}`, asked, { now }))
    assert.ok(earliest <= expected && expected <= latest, `${earliest} ${expected} ${latest}`)
    const seconds = (asked.waitSeconds! + asked.seconds.expected) * factor(i)
    if (i >= 200 && seconds >= earliest && seconds <= latest) inside++
    etas.ended(`j${i}`, now + seconds * 1000)
  }
  return inside / (jobs - 200)
}

test('nine of ten jobs end within their intervals, however large the errors of quotes are', () => {
  for (const sigma of [0.05, 0.3, 1]) {
    const random = stream(2, `${sigma}`)
    const part = covered({ jobs: 1000, factor: () => Math.exp(sigma * random.normal()) })
    assert.ok(part > 0.87 && part < 0.96, `σ ${sigma}: ${part}`)
  }
})

test('intervals follow a load that changes: jobs take five times as long as quoted, then half as long', () => {
  const random = stream(3, 'errors')
  const part = covered({
    jobs: 3000,
    factor: (i) => [1, 5, 0.5][Math.floor(i / 1000)]! * Math.exp(0.2 * random.normal()),
  })
  assert.ok(part > 0.87 && part < 0.96, `${part}`)
})

test('long jobs that are overtaken do not widen the intervals of short ones', () => {
  const etas = new Etas()
  let now = 0
  const runs = (asked: QuotedTimes, seconds: number) => {
    const id = `${now}`
    etas.accepted(id, asked, { now })
    now += seconds * 1000
    etas.ended(id, now)
  }
  for (let i = 0; i < 300; i++) {
    runs(quote(0.1), 0.12)
    runs(quote(20), 20 * (1 + (i % 10)))
  }
  const width = (asked: QuotedTimes) => {
    const { earliest, latest } = endsOf(etas.accepted('next', asked, { now }))
    return latest / earliest
  }
  assert.ok(width(quote(0.1)) < 2.5, `${width(quote(0.1))}`)
  assert.ok(width(quote(20)) > 5, `${width(quote(20))}`)
})

test('jobs that have not ended in time widen the intervals of later ones before they end', () => {
  const etas = new Etas()
  for (let i = 0; i < 20; i++) etas.accepted(`j${i}`, quote(1), { now: 0 })
  const { latest } = endsOf(etas.accepted('later', quote(1), { now: 600_000 }))
  assert.ok(latest > 50, `${latest}`)
})

test('cancelled jobs say nothing about the ends of others', () => {
  const [one, other] = [new Etas(), new Etas()]
  for (let i = 0; i < 100; i++) {
    one.accepted(`j${i}`, quote(1), { now: i })
    one.ended(`j${i}`, i, false)
  }
  const asked = { now: 100 }
  assert.deepEqual(one.accepted('last', quote(1), asked), other.accepted('last', quote(1), asked))
})

test('without a ready worker, or without a quote, nothing is known', () => {
  const etas = new Etas()
  for (const nothing of [quote(1, null), null, undefined, {}, { waitSeconds: 1 }]) {
    assert.deepEqual(etas.accepted('one', nothing, { now: 0 }), nothing)
    etas.ended('one', 1)
  }
})

test('the wait before the cluster is given the job is part of its quote', () => {
  const whole = new Etas().accepted('one', quote(1, 2), { now: 0, aheadS: 7 })
  assert.equal((whole as QuotedTimes).waitSeconds, 9)
  assert.ok(Math.abs(endsOf(whole).expected - 10) < 0.1)
})
