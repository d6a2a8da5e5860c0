import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countSteps } from '../testing/simulated.ts'

test('EW-6 and EW-7 in the simulator: CPU changes the fleet, small requests overflow, and none is lost', () => {
  const counts = countSteps('ecowork')
  assert.ok(counts['launch cpu-step']! > 3 && counts['drain cpu-step']! > 3, JSON.stringify(counts))
  assert.ok(counts['overflow overflow-small']! > 0, JSON.stringify(counts))
})
