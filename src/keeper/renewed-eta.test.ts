import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stream } from '../lib/random.ts'
import type { Place } from './cluster-view.ts'
import { presentEnds } from './renewed-eta.ts'

/** Accepted at 0; expected to take 100 s and 1,000 units of work. */
const job = {
  acceptedAt: 0,
  quote: {
    ...{ work: 1_000, waitSeconds: 0, seconds: { low: 70, expected: 100, high: 150 } },
    ends: { earliest: 60, expected: 100, latest: 200 },
  },
}

const running = (done: number, ranMs: number): Place => ({
  ...{ state: 'running', worker: 'w1', attempts: 1 },
  ...{ done, remaining: 1_000 - done, predicted: 1_000, ranMs },
})

const seconds = (place: Place | undefined, nowS: number) => {
  const { earliest, expected, latest } = presentEnds(job, place, nowS * 1000)!
  return [earliest, expected, latest].map((ms) => Math.round(ms / 1000))
}

test('a job that has not begun keeps the interval that it was given', () => {
  assert.deepEqual(seconds(undefined, 0), [60, 100, 200])
  assert.deepEqual(seconds({ state: 'queued' }, 99), [60, 100, 200])
})

test('a job that began late ends later, by what it has done', () => {
  const [earliest, expected, latest] = seconds(running(500, 50_000), 1_050) as [number, number, number]
  assert.ok(earliest > 1_050 && earliest < expected && expected < latest, `${earliest} ${expected} ${latest}`)
  assert.ok(Math.abs(expected - 1_102) <= 5, `${expected}`)
})

test('a job that is slower than quoted ends later, by its own pace', () => {
  const [, quoted] = seconds(running(500, 50_000), 50) as [number, number]
  const [, slower] = seconds(running(500, 200_000), 50) as [number, number]
  assert.ok(slower - 50 > 3 * (quoted - 50), `${quoted} ${slower}`)
})

test('the interval narrows with the progress', () => {
  const width = (done: number) => {
    const [earliest, , latest] = seconds(running(done, done * 100), done / 10) as [number, number, number]
    return latest - earliest
  }
  assert.ok(width(900) < 0.9 * width(100), `${width(100)} ${width(900)}`)
})

test('the end of an overdue job is never in the past, and less certain the longer it takes', () => {
  for (const place of [undefined, running(3_000, 300_000)]) {
    const at = (nowS: number) => seconds(place, nowS) as [number, number, number]
    const [earliest, expected, latest] = at(500)
    assert.ok(earliest >= 500 && expected > earliest && latest > expected, `${at(500)}`)
  }
  const [, soon] = seconds(undefined, 250) as [number, number]
  const [, late] = seconds(undefined, 2_000) as [number, number]
  assert.ok(late - 2_000 > 4 * (soon - 250), `${soon} ${late}`)
})

test('progress gives an end to a job of which nothing was known when it was accepted', () => {
  const { ends: _, ...quote } = job.quote
  const unknown = { acceptedAt: 0, quote: { ...quote, waitSeconds: null } }
  assert.equal(presentEnds(unknown, undefined, 1_000), undefined)
  assert.equal(presentEnds({ acceptedAt: 0, quote: null }, running(1, 100), 1_000), undefined)
  const ends = presentEnds(unknown, running(500, 50_000), 50_000)!
  assert.ok(Math.abs(ends.expected - 102_000) < 5_000, `${ends.expected}`)
})

test('nine of ten jobs end within the renewed interval, at any part of their work', () => {
  const random = stream(1, 'sizes')
  const sizes = Array.from({ length: 4_000 }, () => 1_000 * Math.exp(0.4 * random.normal()))
  const factor = Math.exp(0.4 * 1.645)
  const ends = { earliest: 100 / factor, expected: 100, latest: 100 * factor }
  const asked = { acceptedAt: 0, quote: { ...job.quote, ends } }
  for (const done of [100, 500, 1_000, 1_500]) {
    const left = sizes.filter((size) => size > done)
    const inside = left.filter((size) => {
      const { earliest, latest } = presentEnds(asked, running(done, done * 100), done * 100)!
      return size * 100 >= earliest && size * 100 <= latest
    })
    const part = inside.length / left.length
    assert.ok(part > 0.87 && part < 0.96, `${done}: ${part}`)
  }
})
