/** A preset in virtual time, on machines like those of its authors. */

import assert from 'node:assert/strict'
import { bursty } from '../../simulate/arrivals.ts'
import { presetRun } from '../../simulate/preset-run.ts'
import { simulate } from '../../simulate/simulate.ts'
import { lognormal } from '../../simulate/sizes.ts'

/** Counts launches, drains and overflows by reason, under requests in bursts. Every request must get a result. */
export function countSteps(preset: string): Record<string, number> {
  const arrivals = bursty(0.15, 4, 1_800_000, 600_000)
  const spec = presetRun(preset, { seed: 3, jobs: 600, arrivals, sizes: lognormal(2, 1.2), errorSigma: 0.5 })
  const counts: Record<string, number> = {}
  const { summary } = simulate(spec, {
    observer: {
      observe(_, actions) {
        for (const action of actions) {
          if (action.type !== 'launch' && action.type !== 'drain' && action.type !== 'overflow') continue
          const what = `${action.type} ${action.reason.code}`
          counts[what] = (counts[what] ?? 0) + 1
        }
      },
    },
  })
  const { jobs, refused } = summary()
  assert.deepEqual([jobs, refused], [600, 0])
  return counts
}
