/** Requests of insect-war from a few milliseconds to seconds: few and many insects, even and uneven, both outputs. */

import type { MeterCase } from './case.ts'

const wars: [army1: number, army2: number, rounds: number, output?: 'png'][] = [
  [40, 40, 500],
  [100, 100, 150],
  [400, 100, 150],
  [100, 800, 80],
  [100, 100, 100, 'png'],
  [300, 300, 150],
  [2000, 2000, 25],
  [600, 300, 200],
  [2000, 700, 60, 'png'],
  [500, 500, 500],
  [100, 1500, 600],
  [4000, 2000, 100, 'png'],
  [5000, 5000, 80],
  [1000, 1000, 700],
  [1600, 400, 1200],
  [300, 2400, 1200],
  [500, 400, 5000],
  [9000, 9000, 350, 'png'],
  [3000, 3000, 1500],
  [10_000, 5000, 1000],
]

export const cases: MeterCase[] = wars.map(([army1, army2, rounds, output = 'json'], i) => ({
  params: { army1, army2, rounds, seed: i, output },
}))
