/** Requests of julia from milliseconds to seconds: small and large, shallow and deep, inside and outside the set. */
import type { MeterCase } from './case.ts'

const views = [
  { cx: -0.8, cy: 0.156 },
  { cx: 0.285, cy: 0.01 },
  { cx: -0.4, cy: 0.6, zoom: 4 },
  { cx: 0, cy: 0 },
]
const sizes = [
  { width: 160, height: 120, iterations: 100 },
  { width: 320, height: 200, iterations: 200 },
  { width: 400, height: 400, iterations: 400 },
  { width: 700, height: 500, iterations: 1000 },
  { width: 900, height: 700, iterations: 2500 },
  { width: 1200, height: 900, iterations: 4000 },
]

/** In the last view no point escapes, which would take too long. */
export const cases: MeterCase[] = views
  .flatMap((view) => sizes.map((size) => ({ params: { ...view, ...size } })))
  .slice(0, -1)
