/** How far off requests like a post were, by percentiles: what an interval around a request near it begins with. */

/** How many rows' worth the misses of all rows count against those of rows alike. */
const everywhere = 8
/** How much less rows that are less alike count. */
const sharpness = 4

/** Percentiles of misses around each post, and at the end those of all rows. */
export function aroundOf(misses: Float64Array, filled: Float64Array, n: number, posts: number): Float64Array {
  const order = [...misses.keys()].sort((a, b) => misses[a]! - misses[b]!)
  const around = new Float64Array(3 * (posts + 1))
  const shares = new Float64Array(misses.length)
  for (let p = 0; p <= posts; p++) {
    const base = everywhere / misses.length
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
