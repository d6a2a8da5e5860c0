/** Where a measured curve reaches a limit, and whether it rises. */

/**
 * The largest whole x up to which every measured y stays within `most`, interpolated between measurements; at least 1.
 * Points are in ascending order of x.
 */
export function largestWithin(points: readonly (readonly [x: number, y: number])[], most: number): number {
  let [lastX, lastY] = [0, 1]
  for (const [x, y] of points) {
    // Means of floating-point numbers may exceed the limit by a rounding error.
    if (y > most * (1 + 1e-9)) {
      const share = y > lastY ? Math.max(0, (most - lastY) / (y - lastY)) : 0
      return Math.max(1, Math.floor(lastX + share * (x - lastX)))
    }
    ;[lastX, lastY] = [x, y]
  }
  return Math.max(1, lastX)
}

/** Of all pairs of points, the number whose larger x has the larger y. */
export function sameOrder(points: readonly (readonly [x: number, y: number])[]): {
  agree: number
  all: number
} {
  let [agree, all] = [0, 0]
  for (const [i, [x, y]] of points.entries()) {
    for (const [otherX, otherY] of points.slice(i + 1)) {
      all++
      if ((otherX - x) * (otherY - y) > 0) agree++
    }
  }
  return { agree, all }
}
