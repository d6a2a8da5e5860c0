/** Predicts the mean number of steps per point from a few sample points with few steps each. */

export interface View {
  width: number
  height: number
  cx: number
  cy: number
  x: number
  y: number
  zoom: number
  iterations: number
}

export interface Glance {
  /** Mean cost of a point, in steps, including fixed costs. */
  steps: number
  /** Share of sample points that did not escape. */
  bounded: number
}

const columns = 9
const rows = 7
const mostSteps = 48
/** If the point 0 has not escaped after 600 steps, some points never do. */
const criticalSteps = 600
/** Weight of the point 0, in escapes, when predicting how long other points stay. */
const criticalWeight = 3
/** Fixed cost of a point, and of computing its shade if it escapes, in steps. */
const pointCost = 2
const escapeCost = 8

export function glance({ width, height, cx, cy, x, y, zoom, iterations }: View): Glance {
  const pixel = 3 / zoom / Math.min(width, height)
  const cap = Math.min(iterations, mostSteps)
  const points = columns * rows
  // The set is symmetric about 0, so half of a centred picture is enough.
  const half = x === 0 && y === 0 ? 0.5 : 1
  let sum = 0
  let lateEscapes = 0
  let bounded = 0
  for (let i = 0; i < points; i++) {
    const row = Math.floor(i / columns)
    // Every second row is shifted, so that the samples cover all columns.
    const across = ((i % columns) + (row % 2 === 0 ? 0.25 : 0.75)) / columns
    const down = ((row + 0.5) / rows) * half
    const steps = stepsFrom(
      x + (across - 0.5) * width * pixel,
      y + (0.5 - down) * height * pixel,
      cx,
      cy,
      cap,
    )
    sum += steps
    if (steps === cap) bounded++
    else if (steps > cap / 2) lateEscapes++
  }
  const share = bounded / points
  const more = iterations - cap
  let [lingering, staying] = [more, 1]
  if (bounded > 0 && more > 0) {
    const critical = stepsFrom(0, 0, cx, cy, criticalSteps)
    if (critical < criticalSteps) {
      // Nearly all points escape: extrapolate the recent rate, slower if 0 escapes late.
      const stay = critical > 2 * cap ? 0.57 * critical : critical
      const exposed = (bounded + lateEscapes / 2) * (cap / 2)
      const rate = (lateEscapes + criticalWeight) / (exposed + criticalWeight * stay)
      staying = Math.exp(-rate * more)
      lingering = (1 - staying) / rate
    }
  }
  const steps = sum / points + share * lingering + pointCost + escapeCost * (1 - share * staying)
  return { steps, bounded: share }
}

/** Steps until the point is as far out as drawing requires. */
function stepsFrom(startX: number, startY: number, cx: number, cy: number, most: number): number {
  let zx = startX
  let zy = startY
  for (let step = 0; step < most; step++) {
    const xx = zx * zx
    const yy = zy * zy
    if (xx + yy > 256) return step
    zy = 2 * zx * zy + cy
    zx = xx - yy + cx
  }
  return most
}
