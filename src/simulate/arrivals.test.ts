import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ConfigError } from '../lib/errors.ts'
import { stream } from '../lib/random.ts'
import { type Arrivals, arrivalsFromFile, bursty, diurnal, poisson } from './arrivals.ts'

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-arrivals-'))
after(() => rmSync(folder, { recursive: true }))

/** The first `count` arrival times. */
function times(arrivals: Arrivals, count: number): number[] {
  const random = stream(11, 'arrivals')
  const all: number[] = []
  for (let at = 0; all.length < count; all.push(at)) at = arrivals.next(at, random)
  return all
}

const near = (actual: number, expected: number, share: number) =>
  assert.ok(Math.abs(actual / expected - 1) < share, `${actual} is not ${expected} ± ${share * 100} %`)
const rate = (at: number[]) => (at.length / at.at(-1)!) * 1000
/** Variance of the counts in windows, over their mean: 1 for independent arrivals. */
function dispersion(at: number[], windowMs: number): number {
  const counts = new Array<number>(Math.floor(at.at(-1)! / windowMs)).fill(0)
  for (const time of at) if (time < counts.length * windowMs) counts[Math.floor(time / windowMs)]!++
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length
  return counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / counts.length / mean
}

test('independent arrivals have the stated rate', () => {
  const at = times(poisson(40), 200_000)
  near(rate(at), 40, 0.01)
  near(dispersion(at, 1000), 1, 0.05)
})

test('bursty arrivals have the stated mean rate, and are bursty', () => {
  const at = times(bursty(40, 10, 9000, 1000), 400_000)
  near(rate(at), 40, 0.05)
  assert.ok(dispersion(at, 1000) > 10)
})

test('diurnal arrivals keep the mean rate, peak at noon and have their trough at midnight', () => {
  const dayMs = 10_000
  const at = times(diurnal(100, 0.8, dayMs), 200_000)
  near(rate(at), 100, 0.02)
  const noon = at.filter((time) => Math.abs((time % dayMs) - dayMs / 2) < dayMs / 20).length
  const midnight = at.filter((time) => (time + dayMs / 20) % dayMs < dayMs / 10).length
  near(noon / midnight, 1.8 / 0.2, 0.15)
})

test('arrivals never go back in time', () => {
  for (const arrivals of [poisson(10), bursty(10), diurnal(10)]) {
    const at = times(arrivals, 2000)
    assert.deepEqual(
      at,
      at.toSorted((a, b) => a - b),
    )
  }
})

test('arrivals from a file come in order, in milliseconds, and end with the file', () => {
  const path = join(folder, 'times')
  writeFileSync(path, '# seconds\n2\n\n0.5\r\n3\n')
  const arrivals = arrivalsFromFile(path)
  const random = stream(1, 'x')
  assert.deepEqual(
    [1, 2, 3, 4].map(() => arrivals.next(0, random)),
    [500, 2000, 3000, Infinity],
  )
})

test('a file with a bad line is rejected; the error names the line', () => {
  const path = join(folder, 'bad')
  for (const bad of ['soon', '-1', 'NaN', 'Infinity', '1 2']) {
    writeFileSync(path, `1\n# fine\n${bad}\n2\n`)
    assert.throws(
      () => arrivalsFromFile(path),
      new ConfigError(`arrivals = ${path}: line 3 is "${bad}", must be a number, 0 or more`),
    )
  }
})

test('an empty or missing file is rejected', () => {
  const path = join(folder, 'empty')
  writeFileSync(path, '# nothing\n\n')
  assert.throws(() => arrivalsFromFile(path), new ConfigError(`arrivals = ${path}: holds no numbers`))
  const missing = join(folder, 'missing')
  assert.throws(
    () => arrivalsFromFile(missing),
    new ConfigError(`arrivals = ${missing}: cannot be read (ENOENT)`),
  )
})
