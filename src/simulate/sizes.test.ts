import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ConfigError } from '../lib/errors.ts'
import { stream } from '../lib/random.ts'
import { bimodal, exponential, lognormal, pareto, type Sizes, sizesFromFile } from './sizes.ts'

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-sizes-'))
after(() => rmSync(folder, { recursive: true }))

function draws(sizes: Sizes, count = 400_000): number[] {
  const random = stream(21, 'sizes')
  return Array.from({ length: count }, () => sizes.draw(random))
}

const near = (actual: number, expected: number, share: number) =>
  assert.ok(Math.abs(actual / expected - 1) < share, `${actual} is not ${expected} ± ${share * 100} %`)
const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

const distributions: [Sizes, number][] = [
  [pareto(2, 0.01, 600), 0.02],
  [pareto(1, 0.1, 10), 0.02],
  [pareto(1.1, 0.01, 600), 0.15],
  [lognormal(-1, 0.8), 0.02],
  [lognormal(), 0.08],
  [bimodal(), 0.05],
  [exponential(3), 0.02],
]

test('draws have the stated mean', () => {
  for (const [sizes, share] of distributions) near(mean(draws(sizes)), sizes.meanSeconds, share)
})

test('sizes are never negative, and stay within stated bounds', () => {
  for (const [sizes] of distributions) for (const size of draws(sizes, 20_000)) assert.ok(size >= 0)
  for (const size of draws(pareto(), 100_000)) assert.ok(size >= 0.01 && size <= 600.000001)
})

test('the lognormal default has a mean of 1 s and a median of 135 ms', () => {
  near(lognormal().meanSeconds, 1, 0.001)
  near(draws(lognormal(), 100_001).toSorted((a, b) => a - b)[50_000]!, 0.135, 0.03)
})

test('sizes from a file are drawn as often as the file lists them', () => {
  const path = join(folder, 'sizes')
  writeFileSync(path, '# seconds\n1\n1\n4\n')
  const sizes = sizesFromFile(path)
  assert.equal(sizes.meanSeconds, 2)
  const drawn = draws(sizes, 30_000)
  assert.deepEqual(new Set(drawn), new Set([1, 4]))
  near(mean(drawn), 2, 0.03)
})

test('a file with a bad line is rejected; the error names the line', () => {
  const path = join(folder, 'bad')
  writeFileSync(path, '1\n2\nthree\n')
  assert.throws(
    () => sizesFromFile(path),
    new ConfigError(`sizes = ${path}: line 3 is "three", must be a number, 0 or more`),
  )
  assert.throws(() => sizesFromFile(folder), { code: 'CONFIG', message: /cannot be read \(EISDIR\)/ })
})
