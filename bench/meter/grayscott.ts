/** Requests of grayscott from milliseconds to seconds, of all sizes; some patterns become stable early. */

import type { MeterCase } from './case.ts'

export const cases: MeterCase[] = [
  { params: { size: 16, iterations: 1000, preset: 'coral' } },
  { params: { size: 32, iterations: 400, preset: 'maze' } },
  { params: { size: 64, iterations: 150, preset: 'spots' } },
  { params: { size: 128, iterations: 40, preset: 'holes' } },
  { params: { size: 64, iterations: 10_000, feed: 0.06, kill: 0.07 } },
  { params: { size: 256, iterations: 10, preset: 'coral' } },
  { params: { size: 32, iterations: 2500, preset: 'chaos' } },
  { params: { size: 256, iterations: 40, preset: 'bubbles' } },
  { params: { size: 128, iterations: 250, preset: 'mitosis' } },
  { params: { size: 512, iterations: 15, preset: 'worms' } },
  { params: { size: 1024, iterations: 2, preset: 'spots' } },
  { params: { size: 64, iterations: 3000, preset: 'coral' } },
  { params: { size: 256, iterations: 250, preset: 'maze' } },
  { params: { size: 128, iterations: 1500, preset: 'spots' } },
  { params: { size: 1024, iterations: 20, preset: 'holes' } },
  { params: { size: 512, iterations: 140, preset: 'coral' } },
  { params: { size: 64, iterations: 50_000, preset: 'chaos' } },
  { params: { size: 256, iterations: 900, preset: 'chaos' } },
  { params: { size: 64, iterations: 20_000, preset: 'maze' } },
  { params: { size: 1024, iterations: 110, preset: 'mitosis' } },
  { params: { size: 128, iterations: 12_000, preset: 'bubbles' } },
  { params: { size: 512, iterations: 1000, preset: 'worms' } },
]
