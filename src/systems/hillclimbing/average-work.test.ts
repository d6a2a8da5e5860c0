import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FleetView, ScaleDecision, Scaler, WorkerFigures } from '../../brain/scale/scaler.ts'
import { fleetOfWorkers } from '../../brain/testing/scaling.ts'
import { averageWork } from './average-work.ts'

const spec = { min: 0, max: 10, mostWork: 500_000_000 }
const minute = 60_000
const million = 1_000_000

type Some = Partial<WorkerFigures>

const fleet = (workers: Some[], more: Partial<FleetView> = {}) =>
  fleetOfWorkers({ cpu: 0.6, jobs: 1 }, workers, more)

/** The decision about these workers at the next look. */
function look(scaler: Scaler, workers: Some[], more: Partial<FleetView> = {}, now = minute): string {
  scaler.decide(fleet([{}]), 0)
  return told(scaler.decide(fleet(workers, more), now))
}

function told(decision: ScaleDecision): string {
  if (decision.kind !== 'steps') return decision.reason.code
  const { reason, launch, drain = [], end = [] } = decision
  const parts = [
    ...end.map(({ worker }) => `end ${worker}`),
    ...drain.map(({ worker }) => `mark ${worker}`),
    ...(launch ? [`launch ${launch.count}`] : []),
  ]
  return parts.length > 0 ? parts.join(', ') : reason.code
}

const of = (...works: number[]): Some[] => works.map((work) => ({ work: work * million }))

test('HC-7 it decides once a minute', () => {
  const scaler = averageWork(spec)
  assert.equal(scaler.everyMs, minute)
  assert.equal(look(scaler, of(400), {}, minute - 1), 'enough')
  assert.equal(look(averageWork(spec), of(400)), 'launch 1')
})

test('HC-7 empty marked workers end at a look, others continue', () => {
  const workers = [{ work: 200 * million }, { draining: true, jobs: 0 }, { draining: true, jobs: 1 }]
  assert.equal(look(averageWork(spec), workers), 'end w2')
})

test('HC-7 while a worker is fresh nothing else is decided, but marked ones still end', () => {
  assert.equal(look(averageWork(spec), [...of(400), { cpu: null }]), 'fresh-workers')
  assert.equal(look(averageWork(spec), of(400), { booting: 1 }), 'fresh-workers')
  assert.equal(look(averageWork(spec), [{ cpu: null }, { draining: true, jobs: 0 }]), 'end w2')
  // A marked worker needs no reading.
  assert.equal(look(averageWork(spec), [...of(400), { cpu: null, draining: true }]), 'launch 1')
})

test('HC-7 a worker with exactly 0 % CPU is fresh; an idle one that is up uses a little', () => {
  assert.equal(look(averageWork(spec), [...of(400), { cpu: 0 }]), 'fresh-workers')
  const scaler = averageWork(spec)
  assert.equal(
    look(scaler, [
      { cpu: 0.0001, work: 0 },
      { cpu: 0.7, work: 300 * million },
    ]),
    'enough',
  )
  assert.deepEqual(scaler.figuresOf?.('w1'), { fresh: false })
})

test('HC-8 a mean above 70 % of the limit launches a worker, 70 % does not', () => {
  assert.equal(look(averageWork(spec), of(351, 351)), 'launch 1')
  assert.equal(look(averageWork(spec), of(350, 350)), 'enough')
  assert.equal(look(averageWork(spec), of(0, 499, 499, 499)), 'launch 1')
  assert.equal(look(averageWork({ ...spec, max: 2 }), of(499, 499)), 'enough')
})

test('HC-8 a mean below 30 % marks the worker with the least work, 30 % does not', () => {
  assert.equal(look(averageWork(spec), of(200, 50, 190)), 'mark w2')
  assert.equal(look(averageWork(spec), of(150, 150)), 'enough')
  assert.equal(look(averageWork(spec), of(10, 10, 10)), 'mark w3')
  assert.equal(look(averageWork({ ...spec, min: 3 }), of(10, 10, 10)), 'enough')
})

test('HC-8 marked workers do not count in the mean', () => {
  assert.equal(look(averageWork(spec), [...of(400), { draining: true, work: 0 }]), 'launch 1')
})

test('HC-8 the last worker is marked only if its CPU is below 50 %', () => {
  assert.equal(look(averageWork(spec), [{ work: million, cpu: 0.5 }]), 'enough')
  assert.equal(look(averageWork(spec), [{ work: million, cpu: 0.49 }]), 'mark w1')
  assert.equal(look(averageWork(spec), [{ cpu: 0.9 }, { cpu: 0.9 }]), 'mark w2')
})

test('it starts with one worker, and a job queued at an empty fleet launches one at once', () => {
  const scaler = averageWork(spec)
  assert.equal(told(scaler.decide(fleet([]), 0)), 'launch 1')
  assert.equal(told(scaler.decide(fleet([], { booting: 1 }), 1)), 'fresh-workers')
  assert.equal(told(scaler.decide(fleet([]), 2)), 'enough')
  assert.equal(told(scaler.decide(fleet([], { waiting: 1 }), 3)), 'launch 1')
})
