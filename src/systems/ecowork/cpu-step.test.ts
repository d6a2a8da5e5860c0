import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FleetView, ScaleDecision, Scaler, WorkerFigures } from '../../brain/scale/scaler.ts'
import { fleetOfWorkers } from '../../brain/testing/scaling.ts'
import { cpuStep } from './cpu-step.ts'

const spec = { min: 1, max: 30 }
const minute = 60_000

type Some = Partial<WorkerFigures>

const fleet = (workers: Some[], more: Partial<FleetView> = {}) => fleetOfWorkers({ cpu: 0.5 }, workers, more)

function look(scaler: Scaler, workers: Some[], more: Partial<FleetView> = {}, now = minute): string {
  scaler.decide(fleet([{ cpu: null }]), 0)
  return told(scaler.decide(fleet(workers, more), now))
}

function told(decision: ScaleDecision): string {
  if (decision.kind !== 'steps') return decision.reason.code
  const { reason, launch, drain = [], end = [] } = decision
  if (end.length > 0) return `end ${end.map(({ worker }) => worker).join(' ')}`
  if (drain.length > 0) return `hold ${drain.map(({ worker }) => worker).join(' ')}`
  return launch ? `launch ${launch.count}` : reason.code
}

const all = (count: number, cpu: number): Some[] => Array.from({ length: count }, () => ({ cpu }))

test('EW-7 above 85 % CPU a tenth is added, rounded up; 85 % changes nothing', () => {
  assert.equal(look(cpuStep(spec), all(1, 0.9)), 'launch 1')
  assert.equal(look(cpuStep(spec), all(20, 0.86)), 'launch 2')
  assert.equal(look(cpuStep(spec), all(21, 0.86)), 'launch 3')
  assert.equal(look(cpuStep(spec), all(2, 0.85)), 'enough')
})

test('EW-7 below 15 % a tenth is removed: twenty at 10 % lose two; 15 % changes nothing', () => {
  assert.equal(look(cpuStep(spec), all(20, 0.1)), 'hold w20 w19')
  assert.equal(look(cpuStep(spec), all(2, 0.15)), 'enough')
})

test('EW-7 workers with the lowest CPU are removed first, those without a reading last', () => {
  const workers = [{ cpu: 0.2 }, { cpu: null }, { cpu: 0.02 }, { cpu: 0.1 }]
  assert.equal(look(cpuStep(spec), workers), 'hold w3')
})

test('EW-7 steps are clamped to the minimum and maximum', () => {
  assert.equal(look(cpuStep({ min: 1, max: 21 }), all(20, 0.9)), 'launch 1')
  assert.equal(look(cpuStep({ min: 1, max: 20 }), all(20, 0.9)), 'enough')
  assert.equal(look(cpuStep({ min: 19, max: 30 }), all(20, 0.1)), 'hold w20')
  assert.equal(look(cpuStep({ min: 20, max: 30 }), all(20, 0.1)), 'enough')
})

test('EW-7 a batch ends when all of it is empty, checked every second', () => {
  const scaler = cpuStep(spec)
  assert.equal(scaler.everyMs, 1000)
  assert.equal(look(scaler, all(12, 0.1)), 'hold w12 w11')
  const rest = all(10, 0.1)
  const batch = (first: number, second: number) =>
    told(
      scaler.decide(
        fleet([...rest, { draining: true, jobs: first }, { draining: true, jobs: second }]),
        minute + 1000,
      ),
    )
  assert.equal(batch(1, 2), 'enough')
  assert.equal(batch(0, 1), 'enough')
  assert.equal(batch(0, 0), 'end w11 w12')
})

test('EW-7 until a batch has ended, and while workers boot, nothing else is decided', () => {
  const scaler = cpuStep(spec)
  look(scaler, all(2, 0.1))
  const going = { draining: true, jobs: 1 }
  assert.equal(told(scaler.decide(fleet([{ cpu: 0.99 }, going]), 3 * minute)), 'batch-under-way')
  const gone = { ...going, jobs: 0 }
  assert.equal(told(scaler.decide(fleet([{ cpu: 0.99 }, gone]), 3 * minute)), 'end w2')
  assert.equal(told(scaler.decide(fleet([{ cpu: 0.99 }]), 3 * minute)), 'launch 1')
  assert.equal(told(scaler.decide(fleet([{ cpu: 0.99 }], { booting: 1 }), 5 * minute)), 'batch-under-way')
})

test('EW-7 a lost worker of the batch is not waited for', () => {
  const scaler = cpuStep(spec)
  look(scaler, all(12, 0.1))
  const rest = all(10, 0.1)
  assert.equal(told(scaler.decide(fleet([...rest, { draining: true, jobs: 0 }]), minute + 1000)), 'end w11')
})

test('EW-7 a batch that is lost as a whole does not block decisions', () => {
  const scaler = cpuStep(spec)
  assert.equal(look(scaler, all(2, 0.1)), 'hold w2')
  assert.equal(told(scaler.decide(fleet([{ cpu: 0.99 }]), 3 * minute)), 'launch 1')
})

test('without a CPU reading nothing is decided', () => {
  assert.equal(look(cpuStep(spec), [{ cpu: null }, { cpu: null }]), 'no-cpu')
})

test('a worker that an operator drains ends when it is empty', () => {
  assert.equal(look(cpuStep(spec), [{}, { draining: true, jobs: 0 }]), 'end w2')
})
