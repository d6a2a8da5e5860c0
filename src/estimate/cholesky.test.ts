import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { stream } from '../lib/random.ts'
import { factor, solve } from './cholesky.ts'

// A fixed seed: every run checks the same cases.
fc.configureGlobal({ seed: 1 })

/** B·Bᵀ for a random B; positive definite only if B has at least n columns. */
function gram(n: number, columns: number, seed: number): Float64Array {
  const random = stream(seed, 'gram')
  const b = Float64Array.from({ length: n * columns }, () => random.normal())
  return Float64Array.from({ length: n * n }, (_, at) => {
    const [i, j] = [Math.floor(at / n), at % n]
    let sum = 0
    for (let k = 0; k < columns; k++) sum += b[i * columns + k]! * b[j * columns + k]!
    return sum
  })
}

function times(a: Float64Array, n: number, x: Float64Array): Float64Array {
  return Float64Array.from({ length: n }, (_, i) =>
    x.reduce((sum, value, j) => sum + a[i * n + j]! * value, 0),
  )
}

test('a positive definite system is solved', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.nat(), (n, seed) => {
      const a = gram(n, 2 * n + 2, seed)
      const x = Float64Array.from({ length: n }, (_, i) => i - n / 3)
      const b = times(a, n, x)
      assert.equal(factor(a, n), 0)
      solve(a, n, b)
      for (const [i, value] of b.entries()) assert.ok(Math.abs(value - x[i]!) < 1e-6)
    }),
  )
})

test('a rank-deficient matrix gets a larger diagonal, as much as needed', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 20 }), fc.nat(), (n, seed) => {
      const a = gram(n, 1, seed)
      const x = Float64Array.from({ length: n }, () => 1)
      const b = times(a, n, x)
      const wanted = b.slice()
      const untouched = a.slice()
      const added = factor(a, n)!
      assert.ok(added > 0 && added < 1e-6)
      solve(a, n, b)
      for (const [i, value] of times(untouched, n, b).entries()) {
        assert.ok(Math.abs(value - wanted[i]!) < 1e-3 * (1 + Math.abs(wanted[i]!)))
      }
    }),
  )
})

test('zero matrices and negative diagonals are made positive definite', () => {
  for (const a of [new Float64Array(9), Float64Array.of(-5, 1, 0, 1, 2, 0, 0, 0, 0)]) {
    assert.ok(factor(a, 3)! > 0)
    const b = Float64Array.of(1, 2, 3)
    solve(a, 3, b)
    assert.ok(b.every(Number.isFinite))
  }
})

test('a matrix with a non-finite entry has no factor', () => {
  assert.equal(factor(Float64Array.of(1, Number.NaN, Number.NaN, 1), 2), undefined)
  assert.equal(factor(Float64Array.of(Number.POSITIVE_INFINITY), 1), undefined)
})
