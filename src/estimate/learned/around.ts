/** Percentiles of the errors near each inducing point, which give the spread of predictions near it. */

/** Total weight of all rows together, in units of one identical row. */
const baseWeight = 8
/** Exponent of the similarity in a row's weight. */
const sharpness = 4

/** The 5th, 50th and 95th percentile of the errors around each point, then those of all rows. */
export function aroundOf(misses: Float64Array, filled: Float64Array, n: number, posts: number): Float64Array {
  const order = [...misses.keys()].sort((a, b) => misses[a]! - misses[b]!)
  const around = new Float64Array(3 * (posts + 1))
  const shares = new Float64Array(misses.length)
  for (let p = 0; p <= posts; p++) {
    const base = baseWeight / misses.length
    let total = 0
    for (let i = 0; i < misses.length; i++) {
      shares[i] = base + (p < posts ? filled[i * n + n - posts + p]! ** sharpness : 0)
      total += shares[i]!
    }
    for (const [k, percentile] of [0.05, 0.5, 0.95].entries()) {
      let sum = 0
      for (const i of order) {
        sum += shares[i]!
        if (sum < percentile * total) continue
        around[3 * p + k] = misses[i]!
        break
      }
    }
  }
  return around
}
