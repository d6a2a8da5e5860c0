/** Presets in virtual time, on machines like those that their constants were found on. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bursty } from '../simulate/arrivals.ts'
import { presetRun } from '../simulate/preset-run.ts'
import { simulate } from '../simulate/simulate.ts'
import { lognormal } from '../simulate/sizes.ts'

/** Requests in bursts: why workers came and went, how many were in functions. */
function run(name: string) {
  const once = () => {
    const arrivals = bursty(0.15, 4, 1_800_000, 600_000)
    const spec = presetRun(name, { seed: 3, jobs: 600, arrivals, sizes: lognormal(2, 1.2), errorSigma: 0.5 })
    const told: Record<string, number> = {}
    const { summary } = simulate(spec, {
      observer: {
        observe(_, actions) {
          for (const action of actions) {
            if (action.type !== 'launch' && action.type !== 'drain' && action.type !== 'overflow') continue
            const what = `${action.type} ${action.reason.code}`
            told[what] = (told[what] ?? 0) + 1
          }
        },
      },
    })
    return { told, summary: summary() }
  }
  const result = once()
  assert.deepEqual(once(), result)
  assert.deepEqual([result.summary.jobs, result.summary.refused], [600, 0])
  return result.told
}

test('HC-5 and HC-8 in the simulator: workers for what fits nowhere, more and fewer by the average, and nothing is lost', () => {
  const told = run('hillclimbing')
  assert.ok(told['launch over-cap']! > 3 && told['launch average-work']! > 0, JSON.stringify(told))
  assert.ok(told['drain average-work']! > 3, JSON.stringify(told))
})

test('EW-6 and EW-7 in the simulator: by CPU, with functions for what is small meanwhile, and nothing is lost', () => {
  const told = run('ecowork')
  assert.ok(told['launch cpu-step']! > 3 && told['drain cpu-step']! > 3, JSON.stringify(told))
  assert.ok(told['overflow overflow-small']! > 0, JSON.stringify(told))
})
