/** Solves A·x = b in place for a symmetric A. The diagonal is increased until A is positive definite. */

/** The addition to the diagonal grows by this factor on each of at most 40 tries. */
const step = 10
const tries = 40

/**
 * Replaces the lower triangle of `a` (`n` × `n`, by rows; the upper triangle must hold the same) by its factor L,
 * A = L·Lᵀ, and returns the amount added to the diagonal. Undefined if an entry is not a finite number.
 */
export function factor(a: Float64Array, n: number): number | undefined {
  const diagonal = new Float64Array(n)
  let largest = 0
  for (let i = 0; i < n; i++) {
    diagonal[i] = a[i * n + i]!
    largest = Math.max(largest, Math.abs(diagonal[i]!))
  }
  let added = 0
  for (let attempt = 0; attempt < tries; attempt++) {
    if (attempt > 0) restore(a, n, diagonal, added)
    if (decompose(a, n)) return added
    added = added === 0 ? (largest || 1) * 1e-12 : added * step
  }
  return undefined
}

/** Solves L·Lᵀ·x = b, where `a` was factored by `factor`; x replaces b. */
export function solve(a: Float64Array, n: number, b: Float64Array): void {
  for (let i = 0; i < n; i++) {
    let rest = b[i]!
    for (let k = 0; k < i; k++) rest -= a[i * n + k]! * b[k]!
    b[i] = rest / a[i * n + i]!
  }
  for (let i = n - 1; i >= 0; i--) {
    let rest = b[i]!
    for (let k = i + 1; k < n; k++) rest -= a[k * n + i]! * b[k]!
    b[i] = rest / a[i * n + i]!
  }
}

/** Writes the lower triangle of A⁻¹ to `inverse`, where `l` is A factored by `factor`. `half` is overwritten. */
export function invert(l: Float64Array, n: number, half: Float64Array, inverse: Float64Array): void {
  // Stored transposed, so that the inner loops read consecutive memory.
  for (let j = 0; j < n; j++) {
    half[j * n + j] = 1 / l[j * n + j]!
    for (let i = j + 1; i < n; i++) {
      let sum = 0
      for (let k = j; k < i; k++) sum -= l[i * n + k]! * half[j * n + k]!
      half[j * n + i] = sum / l[i * n + i]!
    }
  }
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = 0
      for (let k = i; k < n; k++) sum += half[i * n + k]! * half[j * n + k]!
      inverse[i * n + j] = sum
    }
  }
}

/** Restores the lower triangle from the upper one, which `decompose` does not modify. */
function restore(a: Float64Array, n: number, diagonal: Float64Array, added: number): void {
  for (let i = 0; i < n; i++) {
    a[i * n + i] = diagonal[i]! + added
    for (let k = 0; k < i; k++) a[i * n + k] = a[k * n + i]!
  }
}

function decompose(a: Float64Array, n: number): boolean {
  for (let i = 0; i < n; i++) {
    const row = i * n
    for (let j = 0; j <= i; j++) {
      let sum = a[row + j]!
      const other = j * n
      for (let k = 0; k < j; k++) sum -= a[row + k]! * a[other + k]!
      if (j < i) a[row + j] = sum / a[other + j]!
      // A pivot this small relative to its entry is rounding error.
      else if (sum > a[row + i]! * 1e-13 && sum < Number.POSITIVE_INFINITY) a[row + i] = Math.sqrt(sum)
      else return false
    }
  }
  return true
}
