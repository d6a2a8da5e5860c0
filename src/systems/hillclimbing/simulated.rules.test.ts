import assert from 'node:assert/strict'
import { test } from 'node:test'
import { share } from '../../../test/support/thorough.ts'
import { chaos } from '../../simulate/chaos.ts'
import { presetOf } from '../presets.ts'
import { countSteps } from '../testing/simulated.ts'

test('HC-5 and HC-8 in the simulator: misfits and mean work change the fleet, and no request is lost', () => {
  const counts = countSteps('hillclimbing')
  assert.ok(counts['launch over-cap']! > 3 && counts['launch average-work']! > 0, JSON.stringify(counts))
  assert.ok(counts['drain average-work']! > 3, JSON.stringify(counts))
})

test('HC-10 under faults of every kind no request is lost, answered twice, or queued forever', () => {
  const { limits, scale } = presetOf('hillclimbing', { timeScale: 60 })
  const { min: _, max: __, ...policy } = scale!
  for (let seed = 1; seed <= share(15); seed++) {
    const options = {
      scale: { ...policy, mostWork: 2_000_000 },
      limits: { cpuEveryMs: 1000, attempts: limits!.attempts!, losses: limits!.losses! },
    }
    chaos('least-work-capped', seed, options)
  }
})
