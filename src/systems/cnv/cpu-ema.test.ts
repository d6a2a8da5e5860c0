import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FleetView, ScaleDecision, WorkerFigures } from '../../brain/scale/scaler.ts'
import { cpuEma } from './cpu-ema.ts'

const worker = (id: string, cpu: number | null, more: Partial<WorkerFigures> = {}): WorkerFigures => ({
  ...{ id, number: Number(id.slice(1)), draining: false, suspect: false, cpu, jobs: 0, work: 0, since: 0 },
  ...more,
})

function view(workers: WorkerFigures[], { waiting = 0, waitingWork = 0, booting = 0 } = {}): FleetView {
  const ready = workers.filter(({ draining }) => !draining).length
  return {
    ...{ ready, booting, waiting, workers: () => workers, waitingWork: () => waitingWork },
  } as unknown as FleetView
}

const spec = { min: 1, max: 3, everyMs: 100, workerWork: 50 }
const stepsOf = (decision: ScaleDecision) => {
  assert.equal(decision.kind, 'steps')
  return decision.kind === 'steps' ? decision : assert.fail()
}

test('it decides at its interval and holds in between, whatever happens', () => {
  const scaler = cpuEma(spec)
  scaler.decide(view([]), 0)
  assert.equal(scaler.decide(view([]), 99).kind, 'hold')
  assert.equal(stepsOf(scaler.decide(view([]), 100)).launch!.count, 1)
})

test('workers without a reading are left out, and without any reading the mean is unknown', () => {
  const scaler = cpuEma(spec)
  scaler.decide(view([worker('w1', null)]), 0)
  assert.equal(scaler.figures!().emaPercent, null)
  scaler.decide(view([worker('w1', null), worker('w2', 0.5)]), 100)
  assert.equal(scaler.figures!().emaPercent, 50)
})

test('booting workers count, so that the maximum is not exceeded', () => {
  const scaler = cpuEma(spec)
  const busy = (booting: number) => view([worker('w1', 1)], { waiting: 5, waitingWork: 500, booting })
  scaler.decide(busy(0), 0)
  assert.equal(stepsOf(scaler.decide(busy(1), 100)).launch!.count, 1)
  assert.equal(stepsOf(scaler.decide(busy(2), 200)).launch, undefined)
})

test('however far the maximum is, at most two workers are launched at a time', () => {
  const scaler = cpuEma({ ...spec, max: 10 })
  const busy = view([worker('w1', 1)], { waiting: 9, waitingWork: 5000 })
  scaler.decide(busy, 0)
  assert.equal(stepsOf(scaler.decide(busy, 100)).launch!.count, 2)
  const one = view([worker('w1', 1)], { waiting: 1, waitingWork: 50 })
  assert.equal(stepsOf(scaler.decide(one, 200)).launch!.count, 1)
})

test('the least loaded worker drains, of equals the youngest, and none that drains already', () => {
  const scaler = cpuEma({ ...spec, max: 5 })
  const idle = view([
    worker('w1', 0, { work: 5, jobs: 1 }),
    worker('w2', 0),
    worker('w3', 0),
    worker('w4', 0, { draining: true, jobs: 1 }),
  ])
  for (let i = 0; i < 4; i++) scaler.decide(idle, i * 100)
  const { drain, end } = stepsOf(scaler.decide(idle, 400))
  assert.deepEqual([drain!.map((each) => each.worker), end], [['w3'], []])
})

test('an invalid interval is rejected by name', () => {
  assert.throws(() => cpuEma({ ...spec, everyMs: 0 }), /scale.everyMs = 0: must be above 0/)
})
