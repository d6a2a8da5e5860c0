/** Features of a number, compared with primes found by division. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { outlookOf } from './outlook.ts'

function isPrime(n: number): boolean {
  for (let factor = 2; factor * factor <= n; factor++) if (n % factor === 0) return false
  return true
}

test('primality of a number without small factors is recognized', () => {
  for (const from of [1_000_000, 999_999_000, 98_765_432_100]) {
    for (let n = from; n < from + 300; n++) {
      const { rest } = outlookOf(String(n))
      if (isPrime(n)) assert.equal(rest, 'prime', String(n))
    }
  }
  // Products of two primes, in all lengths with different code paths.
  for (const n of [1009n * 2003n, 1_000_003n * 3_000_017n, 80_000_023n * 100_000_007n]) {
    assert.equal(outlookOf(String(n)).rest, 'composite', String(n))
  }
  for (const n of ['1125899906842597', '9007199254740881', '18446744073709551557']) {
    assert.equal(outlookOf(n).rest, 'prime', n)
  }
})

test('divisions count up to the root of the rest without small factors', () => {
  const about = (n: string, root: number) => {
    const { divisions } = outlookOf(n)
    assert.ok(Math.abs(divisions / ((root * 8) / 30) - 1) < 0.01, `${n}: ${divisions}`)
  }
  about('1000003', Math.sqrt(1_000_003))
  about(String(2 ** 10 * 27 * 1_000_003), Math.sqrt(1_000_003))
  about(String(7 * 593 * 599), 593)
  about(String(10n ** 16n * 1_000_003n), Math.sqrt(1_000_003))
  // Three digits at a cost of 1.8 each.
  about('18446744073709551557', 2 ** 32 * 3 * 1.8)
})

test('every number has an outlook, and long numbers are not tested for primality', () => {
  for (const n of ['2', '3', '4', '5', '49', '360000', '9007199254740991', '9007199254740992']) {
    assert.ok(outlookOf(n).divisions > 0, n)
  }
  const { rest, divisions } = outlookOf('1000000000000000000000000000000000000133')
  assert.equal(rest, 'untested')
  assert.ok(divisions > 1e18)
})

test('the product of two primes that are close to each other takes all divisions, as a prime does', () => {
  const share = 8 / 30
  // 999983 × 1000003, 1000003 × 1000033 and 200000033 × 200000039.
  assert.deepEqual(outlookOf('999985999949'), { rest: 'prime', divisions: 999983 * share })
  assert.deepEqual(outlookOf(String(2n * 1000003n * 1000033n)), { rest: 'prime', divisions: 1000003 * share })
  const { rest, divisions } = outlookOf('40000014400001287')
  assert.equal(rest, 'prime')
  assert.ok(divisions > 5 * 200000033 * share && divisions < 6 * 200000033 * share)
  // 1000003 × 3000017 and 1009 × 1013 × 1019 × 1021, whose close factors are no primes.
  assert.equal(outlookOf('3000026000051').rest, 'composite')
  assert.equal(outlookOf(String(1009n * 1013n * 1019n * 1021n)).rest, 'composite')
})
