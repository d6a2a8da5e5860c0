import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Trial } from '../testing/trial.ts'

/** Workers with two cores, polled every minute. */
function polled(): Trial {
  const trial = new Trial({ limits: { cpuEveryMs: 60_000, beatMs: 1000, missedBeats: 1000 } })
  trial.joins('a', { cores: 2 })
  trial.tick()
  return trial
}

const says = (trial: Trial, at: number, seq: number, cpuMs: number) => {
  trial.now = at
  trial.tell({ type: 'reported', worker: 'a', seq, held: [], cpuMs })
}

const cpuAt = (trial: Trial, at: number) => {
  trial.now = at
  trial.tick()
  return trial.view.workers[0]!.cpu
}

test("a worker's CPU share between two polls follows from the CPU time that it reports", () => {
  const trial = polled()
  says(trial, 10_000, 2, 500)
  says(trial, 50_000, 3, 40_500)
  assert.equal(trial.view.workers[0]!.cpu, null)
  assert.equal(cpuAt(trial, 60_000), 0.5)
  says(trial, 110_000, 4, 160_500)
  assert.equal(cpuAt(trial, 119_999), 0.5)
  assert.equal(cpuAt(trial, 120_000), 1)
})

test('a scaler that goes by CPU has workers polled by default', () => {
  for (const policy of ['cpu-ema', 'cpu-step', 'average-work', 'on-misfit'] as const) {
    const trial = new Trial({
      scale: { min: 1, max: 2, policy },
      limits: { beatMs: 1000, missedBeats: 1000 },
    })
    trial.joins('a', { cores: 2 })
    trial.tick()
    says(trial, 10_000, 2, 500)
    says(trial, 50_000, 3, 40_500)
    assert.equal(cpuAt(trial, 60_000), 0.5, policy)
  }
})

test('a worker that does not report keeps its last figure, and has none before its second report', () => {
  const trial = polled()
  assert.equal(cpuAt(trial, 60_000), null)
  says(trial, 70_000, 2, 1_000_000)
  assert.equal(cpuAt(trial, 120_000), null)
  says(trial, 170_000, 3, 1_020_000)
  assert.equal(cpuAt(trial, 180_000), 0.1)
  assert.equal(cpuAt(trial, 240_000), 0.1)
})

test('impossible CPU times are ignored', () => {
  const trial = polled()
  says(trial, 10_000, 2, 0)
  for (const [seq, wrong] of [Number.NaN, -5, Infinity].entries()) says(trial, 20_000, 3 + seq, wrong)
  says(trial, 50_000, 9, 8000)
  assert.equal(cpuAt(trial, 60_000), 0.1)
  // If a worker counts from 0 again, its share stays between 0 and 1.
  says(trial, 110_000, 10, 10)
  assert.equal(cpuAt(trial, 120_000), 0)
})

test('with readings from elsewhere, the brain asks for them in place of looking at reports', () => {
  const limits = { cpuEveryMs: 60_000, cpuReadings: true, beatMs: 1000, missedBeats: 1000 }
  const trial = new Trial({ limits })
  trial.joins('a', { cores: 2 })
  trial.tick()
  says(trial, 10_000, 2, 500)
  says(trial, 50_000, 3, 40_500)
  trial.now = 60_000
  const asked = trial.tell({ type: 'tick' }).filter(({ type }) => type === 'read-cpu')
  assert.equal(asked.length, 1)
  assert.equal(trial.view.workers[0]!.cpu, null)
})

test('a worker keeps its figure until there is a new data point, and figures of unknown workers are ignored', () => {
  const limits = { cpuEveryMs: 60_000, cpuReadings: true, beatMs: 1000, missedBeats: 1000 }
  const trial = new Trial({ limits })
  trial.joins('a')
  const read = (worker: string, share: number) => {
    trial.tell({ type: 'cpu-read', shares: [{ worker, share }] })
    return trial.view.workers[0]!.cpu
  }
  assert.equal(read('nobody', 0.5), null)
  assert.equal(read('a', Number.NaN), null)
  assert.equal(read('a', 0.4), 0.4)
  assert.equal(read('nobody', 0.5), 0.4)
  assert.equal(read('a', 0), 0)
})
