/** What the preset's limits lead to, and the machine of its authors. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { only, Trial } from '../../brain/testing/trial.ts'
import { question } from '../../estimate/testing/question.ts'
import { presetOf } from '../presets.ts'
import { launches, PresetTrial } from '../testing/presets.ts'
import { similarRequests } from './similar-requests.ts'

const million = 1_000_000
const huge = { work: 501 * million }

test('HC-8 it begins with one worker, and grows to ten', () => {
  const trial = new PresetTrial('hillclimbing')
  assert.equal(trial.view.booting.length, 1)
  for (let i = 0; i < 30; i++) {
    trial.arrives(`j${i}`, huge)
    trial.boots()
  }
  assert.equal(trial.view.ready, 10)
})

test('HC-5 a launch that failed is repeated when its request is placed again, after ten seconds', () => {
  const trial = new PresetTrial('hillclimbing')
  trial.boots()
  trial.arrives('first', huge)
  const [launch] = only(trial.arrives('second', huge), 'launch')
  trial.tell({ type: 'launch-failed', launch: launch!.launch })
  assert.equal(launches(trial.after(9_999).tick()), 0)
  assert.equal(launches(trial.after(1).tick()), 1)
})

test('HC-10 a worker that is silent for three seconds is lost, whatever the time scale', () => {
  for (const timeScale of [1, 30, 100]) {
    const { limits } = presetOf('hillclimbing', { timeScale })
    const trial = new Trial({ limits: limits! })
    trial.joins('a')
    trial.reports('a')
    trial.after(2999).tick()
    assert.equal(trial.view.ready, 1)
    trial.after(1).tick()
    trial.after(limits!.beatMs!).tick()
    assert.equal(trial.view.ready, 0, `time scale ${timeScale}`)
  }
})

test('HC-5 heartbeats come every second, and more often only in short intervals', () => {
  const beats = [1, 15, 30, 100].map((timeScale) => presetOf('hillclimbing', { timeScale }).limits!.beatMs)
  assert.deepEqual(beats, [1000, 1000, 500, 150])
})

test('HC-6 on the machine of its authors the largest search takes 6 min 32 s, and 12,000,000 units about 10 s', () => {
  const { workPerSecond, cores, bootMs } = presetOf('hillclimbing').machine!
  assert.equal(Math.round(498_081_995 / (workPerSecond * cores)), 392)
  assert.equal(Math.round((12 * million) / workPerSecond), 9)
  // The document does not say how long a machine takes to start.
  assert.equal(bootMs, 60_000)
})

/** On a map of 1,000 × 1,000. */
const search = (params: Record<string, number>, strategy = 'BFS') =>
  question(
    { strategy, isUpload: false, cells: 1_000_000, mapCells: 1_000_000 },
    { workload: 'hillclimb', params: { map: 1, width: 1000, height: 1000, ...params } },
  )

const groupOf = (learned: ReturnType<typeof search>, asked: ReturnType<typeof search>) => {
  const rule = similarRequests()
  rule.learn(learned, 100)
  return rule.guess(asked)!.reason.group
}

test('HC-4 a start within a quarter of the side of the area is near, across and down; the middle is the default', () => {
  for (const axis of ['xS', 'yS']) {
    assert.equal(groupOf(search({ [axis]: 749 }), search({})), 'same-map')
    assert.equal(groupOf(search({ [axis]: 750 }), search({})), 'similar-size')
    assert.equal(groupOf(search({ [axis]: 249 }), search({})), 'same-map')
    assert.equal(groupOf(search({ [axis]: 248 }), search({})), 'similar-size')
  }
})

test('HC-4 of other workloads, numbers that differ by a quarter are near', () => {
  const ask = (depth: number) => question({ depth, size: 100 })
  assert.equal(groupOf(ask(125), ask(100)), 'same-map')
  assert.equal(groupOf(ask(126), ask(100)), 'similar-size')
})

test('HC-1 uploaded maps are told apart by length and hash, even with the same hash of the beginning', () => {
  const upload = (bytes: number) =>
    question(
      { strategy: 'BFS', isUpload: true, cells: 10_000, mapCells: 10_000 },
      { workload: 'hillclimb', params: { strategy: 'BFS', xS: bytes }, key: `{"xS":${bytes}} ${bytes} hash` },
    )
  assert.equal(groupOf(upload(50), upload(51)), 'similar-size')
})

test('the spread of a group is the deviation of its rows from the guess', () => {
  const rule = similarRequests()
  for (const [xS, work] of [
    [501, 100],
    [502, 400],
  ] as const)
    rule.learn(search({ xS }), work)
  // The guess is 250: its logarithm is 0.916 and −0.470 from those of the rows.
  const { above } = rule.guess(search({}))!.spread!
  assert.ok(Math.abs(above - Math.sqrt(0.916 ** 2 + 0.47 ** 2)) < 0.01, `${above}`)
})
