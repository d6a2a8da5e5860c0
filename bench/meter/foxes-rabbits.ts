/** Requests of foxes-rabbits from milliseconds to seconds, in every world and scenario. */

import type { MeterCase } from './case.ts'

export const cases: MeterCase[] = [
  { params: { world: 1, scenario: 1, generations: 100 } },
  { params: { world: 2, scenario: 2, generations: 30 } },
  { params: { world: 1, scenario: 3, generations: 250 } },
  { params: { world: 3, scenario: 1, generations: 12 } },
  { params: { world: 1, scenario: 2, generations: 250 } },
  { params: { world: 2, scenario: 3, generations: 120 } },
  { params: { world: 4, scenario: 2, generations: 8 } },
  { params: { world: 1, scenario: 1, generations: 1000 } },
  { params: { world: 3, scenario: 3, generations: 80 } },
  { params: { world: 2, scenario: 1, generations: 300, output: 'png' } },
  { params: { world: 4, scenario: 1, generations: 40 } },
  { params: { world: 1, scenario: 2, generations: 2500 } },
  { params: { world: 3, scenario: 2, generations: 250 } },
  { params: { world: 2, scenario: 3, generations: 1500, output: 'png' } },
  { params: { world: 4, scenario: 3, generations: 150 } },
  { params: { world: 1, scenario: 3, generations: 10_000 } },
  { params: { world: 3, scenario: 1, generations: 900 } },
  { params: { world: 2, scenario: 2, generations: 4000 } },
  { params: { world: 4, scenario: 2, generations: 350 } },
  { params: { world: 2, scenario: 1, generations: 9000 } },
  { params: { world: 3, scenario: 3, generations: 3500, output: 'png' } },
  { params: { world: 4, scenario: 1, generations: 1200 } },
]
