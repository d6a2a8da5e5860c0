import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fleetOf } from '../testing/scaling.ts'
import { hpa } from './hpa.ts'
import type { ScaleDecision, Scaler } from './scaler.ts'

const sync = 15_000

/** The decisions for a fleet with these utilisations, sync by sync. */
function syncs(
  scaler: Scaler,
  steps: { ready: number; booting?: number; use: number }[],
): (number | 'hold')[] {
  let [now, busyMs, coreMs] = [0, 0, 0]
  scaler.decide(fleetOf({ ready: steps[0]!.ready }), 0)
  return steps.map(({ ready, booting = 0, use }) => {
    now += sync
    coreMs += ready * 2 * sync
    busyMs += ready * 2 * sync * use
    return answer(scaler.decide(fleetOf({ ready, booting, busyMs, coreMs }), now))
  })
}

const answer = (decision: ScaleDecision) => (decision.kind === 'scale' ? decision.to : 'hold')
const spec = { min: 1, max: 100, target: 0.8 }

test('utilisation within a tenth of the target changes nothing, beyond it the ratio decides', () => {
  assert.deepEqual(syncs(hpa(spec), [{ ready: 10, use: 0.87 }]), ['hold'])
  assert.deepEqual(syncs(hpa(spec), [{ ready: 10, use: 0.73 }]), ['hold'])
  assert.deepEqual(syncs(hpa(spec), [{ ready: 10, use: 1 }]), [13])
})

test('booting workers count as idle', () => {
  assert.deepEqual(syncs(hpa(spec), [{ ready: 10, booting: 3, use: 1 }]), ['hold'])
  assert.deepEqual(syncs(hpa(spec), [{ ready: 10, booting: 1, use: 1 }]), [13])
})

test('it at most adds four workers or doubles in one sync', () => {
  assert.deepEqual(syncs(hpa({ ...spec, target: 0.1 }), [{ ready: 2, use: 1 }]), [6])
  assert.deepEqual(syncs(hpa({ ...spec, target: 0.1 }), [{ ready: 10, use: 1 }]), [20])
})

test('it shrinks to the highest recommendation of five minutes', () => {
  const steps = Array.from({ length: 22 }, (_, i) => ({ ready: 10, use: i === 0 ? 0.6 : 0.2 }))
  const answers = syncs(hpa(spec), steps)
  assert.equal(answers[0], 8)
  assert.ok(answers.slice(1, 20).every((to) => to === 8))
  assert.equal(answers[20], 3)
})

test('between two syncs only lost workers are replaced', () => {
  const scaler = hpa(spec)
  syncs(scaler, [{ ready: 10, use: 1 }])
  assert.equal(answer(scaler.decide(fleetOf({ ready: 10, booting: 3 }), sync + 1)), 'hold')
  assert.equal(answer(scaler.decide(fleetOf({ ready: 9, booting: 3 }), sync + 2)), 13)
})

test('a job arriving at an empty fleet launches a worker, without waiting for the next sync', () => {
  const scaler = hpa({ ...spec, min: 0 })
  scaler.decide(fleetOf({ ready: 0 }), 0)
  assert.equal(answer(scaler.decide(fleetOf({ ready: 0, jobs: 1 }), 100)), 1)
})
