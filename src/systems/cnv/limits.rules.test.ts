/** What the preset's own amounts and limits lead to, at full scale. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readParams } from '../../../workloads/testing/params.ts'
import { answers, only, sent, Trial } from '../../brain/testing/trial.ts'
import { workOf } from '../../model/metrics.ts'
import { fakeContext } from '../../workload/fake-context.ts'
import { loadWorkloads } from '../../workload/load.ts'
import { presetOf } from '../presets.ts'

const preset = presetOf('cnv')
/** Instructions and accesses of a unit of cost. */
const unit = 4_000_000

/** `functions`: with the preset's. */
function trialOf(workers: number, { functions = false, timeScale = 1, min = 0 } = {}): Trial {
  const { scheduler, placing, discipline, scale, limits, overflow } = presetOf('cnv', { timeScale })
  const { perWorkload: _, ...rule } = overflow!
  const trial = new Trial({
    ...{ scheduler, placing: placing!, discipline, scale: { ...scale!, min } },
    limits: { ...limits, pings: null, beatMs: 0 },
    ...(functions && { overflow: { ...rule, workPerSecond: 1000 * unit, coldMs: 0 } }),
  })
  for (let i = 0; i < workers; i++) trial.joins(`w${i}`, { slots: 100, workPerSecond: unit })
  return trial
}

test('CN-1 its workloads draw a fractal, match genomes and let two substances react', async () => {
  const files = preset.workloads!.map(
    (name) => new URL(`../../../workloads/${name}.ts`, import.meta.url).pathname,
  )
  const answered = new Map<string, unknown>()
  for (const workload of await loadWorkloads(files)) {
    const small = {
      julia: { width: 20, height: 10 },
      dna: { length: 500 },
      grayscott: { size: 16, iterations: 5 },
    }
    const params = readParams(workload, small[workload.name as keyof typeof small] ?? {})
    answered.set(workload.name, await workload.run(params as never, fakeContext()))
  }
  assert.deepEqual([...answered.keys()].sort(), ['dna', 'grayscott', 'julia'])
  for (const [name, answer] of answered) assert.ok(answer, name)
})

test('CN-2 work is the sum of instructions, field loads, stores and allocations', () => {
  const { meter } = preset
  assert.ok(meter && meter !== 'off')
  const tally = {
    instructions: 1000,
    fieldLoads: 200,
    stores: 30,
    allocations: 4,
    blocks: 99,
    stackLoads: 99,
  }
  assert.equal(workOf(tally, meter.formula), 1234)
})

test('CN-5 CN-6 a cost is 4,000,000 instructions and accesses: 4,000 are LIGHT, and may go to a function', () => {
  const trial = trialOf(1, { functions: true })
  assert.deepEqual(sent(trial.arrives('full', { work: 16_000 * unit })), ['full w0'])
  assert.equal(only(trial.arrives('light', { work: 4_000 * unit }), 'overflow').length, 1)
  assert.equal(only(trial.arrives('medium', { work: 4_000 * unit + 1 }), 'wait').length, 1)
})

test('CN-5 CN-8 a worker carries a cost of 16,000', () => {
  const trial = trialOf(1)
  assert.equal(sent(trial.arrives('most', { work: 15_999 * unit })).length, 1)
  assert.equal(sent(trial.arrives('last', { work: unit })).length, 1)
  assert.equal(sent(trial.arrives('more', { work: 1 })).length, 0)
})

test('CN-6 four functions of 512 MB run at a time', () => {
  const trial = trialOf(1, { functions: true })
  trial.arrives('full', { work: 16_000 * unit })
  assert.deepEqual(only(trial.arrives('wide', { work: 1, memoryMb: 513 }), 'overflow'), [])
  const away = [1, 2, 3, 4, 5].map(
    (i) => only(trial.arrives(`f${i}`, { work: 1, memoryMb: 512 }), 'overflow').length,
  )
  assert.deepEqual(away, [1, 1, 1, 1, 0])
})

test('CN-9 attempts are bounded by retries alone, however they end', () => {
  for (const kind of ['crash', 'killed', 'unreachable'] as const) {
    const trial = trialOf(5)
    trial.arrives('x', { work: 1 })
    for (let i = 0; i < 3; i++) assert.deepEqual(answers(trial.fails('x', kind)), [])
    assert.deepEqual(answers(trial.fails('x', kind)), ['x refused retries'])
  }
})

/** Asserts that the first request of a trial is retried after exactly this time without an answer. */
function assertRetriedAfter(trial: Trial, limitMs: number): void {
  const [first] = sent(trial.history)
  assert.deepEqual(only(trial.after(limitMs - 1).tick(), 'cancel'), [], `${limitMs} ms`)
  const again = sent(trial.after(1).tick())
  assert.deepEqual([again.length, again[0] !== first], [1, true], `${limitMs} ms`)
}

test('CN-9 a forward may take 5 min plus ten times what the worker should need for all its requests', () => {
  for (const [seconds, limitMs] of [
    [1, 310_000],
    [60, 900_000],
  ] as const) {
    const trial = trialOf(2)
    trial.arrives('x', { work: seconds * unit })
    assertRetriedAfter(trial, limitMs)
  }
})

test('CN-9 in divided times a forward still may take at least 30 s', () => {
  for (const [timeScale, limitMs] of [
    [5, 70_000],
    [10, 40_000],
    [1000, 40_000],
  ] as const) {
    const trial = trialOf(2, { timeScale })
    trial.arrives('x', { work: unit })
    assertRetriedAfter(trial, limitMs)
  }
})

test('CN-12 a launch that does not join within sixteen checks, 4 min, is given up; at least 30 s are allowed', () => {
  for (const [timeScale, allowedMs] of [
    [1, 240_000],
    [4, 60_000],
    [60, 30_000],
  ] as const) {
    const trial = trialOf(0, { timeScale, min: 1 })
    assert.equal(only(trial.tick(), 'launch').length, 1)
    trial.after(allowedMs - 1).tick()
    assert.deepEqual(only(trial.history, 'abandon'), [], `time scale ${timeScale}`)
    trial.after(1).tick()
    assert.equal(only(trial.history, 'abandon').length, 1, `time scale ${timeScale}`)
  }
})

test('CN-12 heartbeats come every second, and four times between two checks in short intervals', () => {
  const beats = [1, 3, 15, 60].map((timeScale) => presetOf('cnv', { timeScale }).limits!.beatMs)
  assert.deepEqual(beats, [1000, 1000, 250, 62.5])
})
