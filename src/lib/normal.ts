/** The standard normal distribution. */

/** The share of the distribution below z, to seven digits (Abramowitz and Stegun, 26.2.17). */
export function below(z: number, density = densityAt(z)): number {
  if (z === -Infinity) return 0
  const t = 1 / (1 + 0.2316419 * Math.abs(z))
  const series =
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  const above = density * series
  return z > 0 ? 1 - above : above
}

export function densityAt(z: number): number {
  return 0.3989422804 * Math.exp((-z * z) / 2)
}

/** Where a share of the distribution lies above, to three digits (Abramowitz and Stegun, 26.2.23). */
export function zAbove(share: number): number {
  if (share > 0.5) return -zAbove(1 - share)
  const t = Math.sqrt(-2 * Math.log(Math.max(share, Number.MIN_VALUE)))
  return t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)))
}
