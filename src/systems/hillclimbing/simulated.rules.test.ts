import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countSteps } from '../testing/simulated.ts'

test('HC-5 and HC-8 in the simulator: misfits and mean work change the fleet, and no request is lost', () => {
  const counts = countSteps('hillclimbing')
  assert.ok(counts['launch over-cap']! > 3 && counts['launch average-work']! > 0, JSON.stringify(counts))
  assert.ok(counts['drain average-work']! > 3, JSON.stringify(counts))
})
