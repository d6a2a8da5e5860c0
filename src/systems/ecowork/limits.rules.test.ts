/** What the preset's limits lead to. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answers, only, sent, Trial } from '../../brain/testing/trial.ts'
import { presetOf } from '../presets.ts'
import { launches, PresetTrial } from '../testing/presets.ts'

const minute = 60_000
const mostWork = 60_000_000_000

/** One worker with all the work that it may have, while another boots. */
function overloaded(): PresetTrial {
  const trial = new PresetTrial('ecowork', { min: 1 })
  trial.boots()
  assert.equal(launches(trial.lives(minute, 0.9)), 1)
  trial.arrives('full', { work: mostWork })
  return trial
}

test('EW-6 eight functions run at a time', () => {
  const trial = overloaded()
  const away = Array.from(
    { length: 9 },
    (_, i) => only(trial.arrives(`f${i}`, { work: 1 }), 'overflow').length,
  )
  assert.deepEqual(away, [1, 1, 1, 1, 1, 1, 1, 1, 0])
})

test('EW-6 what is queued is placed again every second', () => {
  const { scheduler, placing, discipline } = presetOf('ecowork')
  const trial = new Trial({ scheduler, placing: placing!, discipline, scale: { min: 2, max: 2 } })
  const [first] = only(trial.tick(), 'launch')
  trial.joins('a', { slots: 100 }, { launch: first!.launch })
  trial.arrives('full', { work: mostWork })
  trial.arrives('more', { work: 1 })
  assert.deepEqual(trial.view.waiting, ['more'])
  assert.equal(only(trial.history, 'wake').at(-1)?.at, trial.now + 1000)
})

test('EW-8 heartbeats come every second, and more often only in short intervals', () => {
  const beats = [1, 15, 30, 100].map((timeScale) => presetOf('ecowork', { timeScale }).limits!.beatMs)
  assert.deepEqual(beats, [1000, 1000, 500, 150])
})

test('EW-9 silence alone does not make a worker dead: only a heartbeat that is not answered does', () => {
  const trial = new Trial({ limits: presetOf('ecowork').limits! })
  trial.joins('a')
  trial.reports('a')
  trial.after(minute).tick()
  assert.equal(trial.view.ready, 1)
})

test('EW-8 a worker is given at least ten seconds for an answer and three for a heartbeat, whatever the time scale', () => {
  const limits = [1, 2, 30].map((timeScale) => presetOf('ecowork', { timeScale }).limits!.answers!)
  assert.deepEqual(
    limits.map(({ leastMs, heartbeatMs }) => [leastMs, heartbeatMs]),
    [
      [60_000, 3000],
      [30_000, 3000],
      [10_000, 3000],
    ],
  )
  // At a tenth of the speed they are longer.
  const slow = presetOf('ecowork', { timeScale: 0.1 }).limits!.answers!
  assert.deepEqual([slow.leastMs, slow.heartbeatMs], [600_000, 30_000])
})

test('EW-8 a request that takes down twenty workers is rejected; failed connections are unbounded', () => {
  const { scheduler, placing, discipline, limits } = presetOf('ecowork')
  const trial = new Trial({
    ...{ scheduler, placing: placing!, discipline },
    limits: { ...limits, beatMs: 0, answers: null },
  })
  for (let i = 0; i < 25; i++) trial.joins(`w${i}`)
  trial.arrives('unlucky', { work: 1 })
  for (let i = 0; i < 100; i++) assert.equal(sent(trial.fails('unlucky', 'unreachable')).length, 1)
  trial.arrives('killer', { work: 1 })
  const lose = () => answers(trial.tell({ type: 'lost', worker: trial.at('killer').worker }))
  for (let i = 0; i < 19; i++) assert.deepEqual(lose(), [])
  assert.deepEqual(lose(), ['killer refused poison'])
})
