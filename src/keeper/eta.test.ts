import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stream } from '../lib/random.ts'
import { Etas, type QuotedTimes } from './eta.ts'

const quote = (expected: number, waitSeconds: number | null = 0, part = 1.2): QuotedTimes => ({
  seconds: { expected, low: expected / part, high: expected * part },
  waitSeconds,
})

/** The part of the jobs, after the first 200, that ended within the interval that they were given. */
function covered(
  etas: Etas,
  { jobs, factor }: { jobs: number; factor(quote: QuotedTimes, i: number): number },
): number {
  const random = stream(1, 'jobs')
  let inside = 0
  for (let i = 0; i < jobs; i++) {
    const asked = quote(0.1 * Math.exp(random.normal()), random.next() < 0.5 ? 0 : random.exponential())
    const { earliest, expected, latest } = etas.of(asked)!
    assert.ok(earliest <= expected && expected <= latest, `${earliest} ${expected} ${latest}`)
    const seconds = (asked.waitSeconds! + asked.seconds.expected) * factor(asked, i)
    if (i >= 200 && seconds >= earliest && seconds <= latest) inside++
    etas.ended(asked, seconds)
  }
  return inside / (jobs - 200)
}

test('nine of ten jobs end within their intervals, however large the errors of quotes are', () => {
  for (const sigma of [0.05, 0.3, 1]) {
    const random = stream(2, `${sigma}`)
    const part = covered(new Etas(), { jobs: 1000, factor: () => Math.exp(sigma * random.normal()) })
    assert.ok(part > 0.87 && part < 0.96, `σ ${sigma}: ${part}`)
  }
})

test('intervals follow a load that changes: jobs take five times as long as quoted, then half as long', () => {
  const random = stream(3, 'errors')
  const part = covered(new Etas(), {
    jobs: 3000,
    factor: (_quote, i) => [1, 5, 0.5][Math.floor(i / 1000)]! * Math.exp(0.2 * random.normal()),
  })
  assert.ok(part > 0.87 && part < 0.96, `${part}`)
})

test('long jobs that are overtaken do not widen the intervals of short ones', () => {
  const etas = new Etas()
  for (let i = 0; i < 300; i++) {
    etas.ended(quote(0.1), 0.12)
    etas.ended(quote(20), 20 * (1 + (i % 10)))
  }
  const width = (asked: QuotedTimes) => etas.of(asked)!.latest / etas.of(asked)!.earliest
  assert.ok(width(quote(0.1)) < 2, `${width(quote(0.1))}`)
  assert.ok(width(quote(20)) > 5, `${width(quote(20))}`)
})

test('without a ready worker, or without a quote, nothing is known', () => {
  const etas = new Etas()
  for (const nothing of [quote(1, null), null, undefined, {}, { waitSeconds: 1 }]) {
    assert.equal(etas.of(nothing), undefined)
    etas.ended(nothing, 1)
  }
  assert.deepEqual(etas.withEnds(null, 3), null)
})

test('the wait before the cluster is given the job is part of its quote', () => {
  const etas = new Etas()
  const whole = etas.withEnds(quote(1, 2), 7) as QuotedTimes & { ends: { expected: number } }
  assert.equal(whole.waitSeconds, 9)
  assert.ok(Math.abs(whole.ends.expected - 10) < 0.1)
})
