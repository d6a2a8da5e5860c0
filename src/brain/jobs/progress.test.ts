/** Progress that workers report while jobs run. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Trial } from '../testing/trial.ts'

const outstanding = (trial: Trial, worker = 0) => trial.view.workers[worker]!.outstanding

/** Under this discipline nothing is extrapolated: only reported progress counts. */
function sharingTrial(): Trial {
  const trial = new Trial({ scheduler: 'least-connections' })
  trial.joins('a', { cores: 4 })
  return trial
}

test("a worker's outstanding work falls as its jobs progress and end", () => {
  const trial = sharingTrial()
  trial.arrives('j1', { work: 1000 })
  trial.arrives('j2', { work: 500 })
  assert.equal(outstanding(trial), 1500)
  trial.after(10).progresses('j1', 300)
  assert.equal(outstanding(trial), 1200)
  trial.after(10).progresses('j2', 100)
  assert.equal(outstanding(trial), 1100)
  trial.finishes('j1')
  assert.equal(outstanding(trial), 400)
  trial.finishes('j2')
  assert.equal(outstanding(trial), 0)
})

test('progress messages that are repeated, late or out of order change nothing', () => {
  const trial = sharingTrial()
  trial.arrives('j1', { work: 1000 })
  trial.progresses('j1', 300)
  trial.progresses('j1', 300)
  assert.equal(outstanding(trial), 700)
  trial.progresses('j1', 600)
  for (const late of [300, 500, 600, 0, -1, Number.NaN, Infinity]) trial.after(5).progresses('j1', late)
  assert.equal(outstanding(trial), 400)
})

test('a repeated message does not stop the extrapolation of a running job', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a', { workPerSecond: 1000 })
  trial.arrives('j1', { work: 1000 })
  trial.after(100).progresses('j1', 150)
  trial.after(100).progresses('j1', 150)
  trial.tick()
  assert.equal(outstanding(trial), 750)
})

test('a report with less progress than known is ignored; one with more counts', () => {
  const trial = new Trial({ scheduler: 'srpt', limits: { beatMs: 1000, settleMs: 2000 } })
  trial.joins('a', { workPerSecond: 1000 })
  trial.arrives('j1', { work: 1000 })
  trial.after(10).progresses('j1', 400)
  trial.reports('a', [trial.held('j1', 300)])
  assert.equal(outstanding(trial), 600)
  // It has stopped since, so the extrapolation was too high.
  trial.after(100).reports('a', [trial.held('j1', 400)])
  assert.equal(outstanding(trial), 600)
})

test('the progress of an attempt that has ended does not count for the next', () => {
  const trial = sharingTrial()
  trial.joins('b', { cores: 4 })
  trial.arrives('j1', { work: 1000 })
  const first = trial.at('j1')
  trial.progresses('j1', 900)
  trial.fails('j1', 'crash')
  assert.notEqual(trial.at('j1').worker, first.worker)
  trial.tell({ type: 'progressed', done: 950, ...first })
  assert.equal(
    trial.view.workers.reduce((sum, worker) => sum + worker.outstanding, 0),
    1000,
  )
  trial.progresses('j1', 100)
  assert.equal(
    trial.view.workers.reduce((sum, worker) => sum + worker.outstanding, 0),
    900,
  )
})

test('a job that outgrows its estimate is assumed to be half done, and its remainder falls', () => {
  const trial = sharingTrial()
  trial.arrives('j1', { work: 1000 })
  const left = [1200, 1600, 2000, 3000, 3300].map((done) => {
    trial.progresses('j1', done)
    return outstanding(trial)
  })
  assert.deepEqual(left, [0, 1600, 1200, 200, 3300])
})

test('outstanding work is the estimate less the most progress reported, in any order of messages', () => {
  const amounts = fc.array(fc.integer({ min: 0, max: 1499 }), { minLength: 1, maxLength: 30 })
  const property = fc.property(amounts, amounts, (ones, twos) => {
    const trial = sharingTrial()
    trial.arrives('j1', { work: 1000 })
    trial.arrives('j2', { work: 1000 })
    ones.forEach((done, i) => {
      trial.after(1).progresses('j1', done)
      if (twos[i] !== undefined) trial.progresses('j2', twos[i])
    })
    const said = [Math.max(...ones), Math.max(...twos.slice(0, ones.length))]
    assert.equal(
      outstanding(trial),
      said.reduce((sum, done) => sum + Math.max(0, 1000 - done), 0),
    )
  })
  fc.assert(property, { seed: 1, numRuns: 200 })
})
