/** The load of each preset's demo: requests of its own kinds, few at first, then enough to make the fleet grow, then few. */

import {
  browse,
  compress,
  type Draw,
  dna,
  factorize,
  foxes,
  grayscott,
  hillclimb,
  julia,
  purchase,
  war,
} from './kinds.ts'
import type { Phase } from './load.ts'

export interface PresetLoad {
  draws: readonly Draw[]
  phases: readonly Phase[]
  /** Time for the fleet to shrink after the last answer. */
  settleSeconds: number
}

export const presetLoads: Readonly<Record<string, PresetLoad>> = {
  cloudprime: {
    draws: [factorize],
    phases: [
      { seconds: 3, perSecond: 4, ms: [1, 50] },
      { seconds: 6, perSecond: 6, ms: [50, 1500] },
      { seconds: 3, perSecond: 4, ms: [1, 50] },
    ],
    settleSeconds: 40,
  },
  tiered: {
    draws: [browse, browse, browse, browse, browse, browse, purchase],
    phases: [
      { seconds: 4, perSecond: 20, ms: [1, 2] },
      { seconds: 4, perSecond: 400, ms: [1, 2] },
      { seconds: 4, perSecond: 20, ms: [1, 2] },
    ],
    settleSeconds: 20,
  },
  cnv: {
    draws: [julia, dna, grayscott],
    phases: [
      { seconds: 3, perSecond: 4, ms: [5, 50] },
      { seconds: 24, perSecond: 5, ms: [50, 240] },
      { seconds: 3, perSecond: 4, ms: [5, 50] },
    ],
    settleSeconds: 90,
  },
  hillclimbing: {
    draws: [hillclimb],
    phases: [
      { seconds: 3, perSecond: 4, ms: [5, 50] },
      { seconds: 6, perSecond: 8, ms: [100, 400] },
      { seconds: 3, perSecond: 4, ms: [5, 50] },
    ],
    settleSeconds: 40,
  },
  ecowork: {
    draws: [foxes, war, compress],
    phases: [
      { seconds: 3, perSecond: 4, ms: [5, 50] },
      { seconds: 8, perSecond: 12, ms: [50, 400] },
      { seconds: 3, perSecond: 4, ms: [5, 50] },
    ],
    settleSeconds: 40,
  },
}
