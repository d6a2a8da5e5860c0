/** Results of factorize, and rejected input. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fakeContext } from 'plimsoll/testing'
import factorize from './factorize.ts'
import { problems, readParams } from './testing/params.ts'

// A fixed seed: every run checks the same cases.
fc.configureGlobal({ seed: 1 })

async function factorsOf(n: unknown): Promise<string[]> {
  const answer = await factorize.run(readParams(factorize, { n }), fakeContext())
  return (answer as { factors: string[] }).factors
}

function isPrime(n: bigint): boolean {
  for (let d = 2n; d * d <= n; d++) if (n % d === 0n) return false
  return n > 1n
}

test('the factors are primes in ascending order whose product is n', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 2, max: 2 ** 31 }), async (n) => {
      const factors = (await factorsOf(n)).map(BigInt)
      assert.equal(
        factors.reduce((product, factor) => product * factor, 1n),
        BigInt(n),
      )
      assert.ok(factors.every(isPrime))
      assert.deepEqual(
        factors,
        factors.toSorted((a, b) => Number(a - b)),
      )
    }),
  )
})

test('factors of all small numbers agree with plain trial division', async () => {
  for (let n = 2; n < 3000; n++) {
    const plain: string[] = []
    for (let d = 2, rest = n; rest > 1; d++) for (; rest % d === 0; rest /= d) plain.push(String(d))
    assert.deepEqual(await factorsOf(n), plain)
  }
})

test('a product of primes is split into these primes, also beyond 2^53', async () => {
  const primes = ['2', '3', '5', '7', '31', '37', '61', '211', '7919', '10007']
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...primes), { minLength: 1, maxLength: 8 }), async (chosen) => {
      const n = chosen.reduce((product, prime) => product * BigInt(prime), 1n)
      assert.deepEqual(
        await factorsOf(String(n)),
        chosen.toSorted((a, b) => Number(a) - Number(b)),
      )
    }),
  )
})

test('known numbers on both sides of 2^53', async () => {
  const known: Record<string, string[]> = {
    '999985999949': ['999983', '1000003'],
    '9007199254740991': ['6361', '69431', '20394401'],
    '9007199254740992': Array(53).fill('2'),
    '9007199254740993': ['3', '107', '28059810762433'],
    '1000036000099000000000000': [...Array(12).fill('2'), ...Array(12).fill('5'), '1000003', '1000033'],
    '9999999999999999999999999999999999999999': [
      ...['3', '3', '11', '41', '73', '101', '137', '271', '3541', '9091', '27961'],
      ...['1676321', '5964848081'],
    ],
  }
  for (const [n, factors] of Object.entries(known)) assert.deepEqual(await factorsOf(n), factors)
})

test('progress is the increasing share of the square root that has been tried', async () => {
  for (const n of ['999999999999989', '999985999949', '10000140000490000']) {
    const ctx = fakeContext()
    await factorize.run({ n }, ctx)
    assert.ok(ctx.fractions.length > 0)
    assert.ok(ctx.fractions.every((fraction) => fraction >= 0 && fraction <= 1))
    assert.deepEqual(
      ctx.fractions,
      ctx.fractions.toSorted((a, b) => a - b),
    )
  }
})

test('n is accepted as string or number and returned as an exact string', () => {
  for (const n of [12, '12', '0012']) assert.deepEqual(readParams(factorize, { n }), { n: '12' })
  const large = '9'.repeat(40)
  assert.deepEqual(readParams(factorize, { n: large }), { n: large })
})

const allowed = 'a whole number from 2, of at most 40 digits; as text if it is above 9007199254740991'
test('invalid input is rejected with the allowed values', () => {
  assert.equal(problems(factorize, {}), `n: missing: must be ${allowed}`)
  for (const n of ['', ' ', '12 ', 'abc', '-7', '1.5', '1e3', '0x10', '0', '1', true, null, [12], { n: 2 }]) {
    assert.equal(problems(factorize, { n }), `n: must be ${allowed}, not ${JSON.stringify(n)}`)
  }
  for (const n of [1.5, -1.5, 2 ** 53])
    assert.equal(problems(factorize, { n }), `n: must be ${allowed}, not ${n}`)
  assert.equal(problems(factorize, { n: -3 }), `n: must be ${allowed}, not "-3"`)
  assert.match(problems(factorize, { n: '9'.repeat(41) }), /at most 40 digits/)
  assert.equal(problems(factorize, { n: 6, m: 7, k: 1 }), 'unknown: m, k; allowed: n')
})
