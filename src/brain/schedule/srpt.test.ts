import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { firstExpectation } from '../../model/revision.ts'
import { only, sent, Trial } from '../testing/trial.ts'

test('a job starts on a free core, of the fastest worker first', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('slow', { workPerSecond: 500 })
  trial.joins('fast', { workPerSecond: 2000, cores: 2 })
  for (const job of ['j1', 'j2', 'j3']) trial.arrives(job)
  assert.deepEqual(sent(trial.history), ['j1 fast', 'j2 fast', 'j3 slow'])
})

test('without a free core a shorter job preempts the one with the most left', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  for (const id of ['a', 'b']) trial.joins(id)
  trial.arrives('j1', { work: 5000 })
  trial.arrives('j2', { work: 9000 })
  const [run] = only(trial.arrives('short', { work: 1000 }), 'run')
  assert.equal(run!.worker, 'b')
  assert.deepEqual(run!.reason, { code: 'shorter', needMs: 1000, leftMs: 9000, preempts: 'j2' })
  const running = trial.view.workers.flatMap(({ jobs }) => jobs.filter((job) => job.running))
  assert.deepEqual(running.map((job) => job.job).toSorted(), ['j1', 'short'])
})

test('work already done counts', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a')
  trial.arrives('j1', { work: 5000 })
  trial.after(4500)
  assert.equal(only(trial.arrives('j2', { work: 500 }), 'wait').length, 1)
  assert.deepEqual(sent(trial.arrives('j3', { work: 499 })), ['j3 a'])
})

test('a job that is not shorter is queued for all workers, and the shortest goes first', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a')
  trial.arrives('j1', { work: 1000 })
  for (const [id, work] of Object.entries({ long: 9000, mid: 5000, short: 2000 })) trial.arrives(id, { work })
  assert.deepEqual(sent(trial.finishes('j1')), ['short a'])
})

test('a job that is not preemptible keeps its core', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a')
  trial.arrives('j1', { work: 9000, preemptible: false })
  assert.deepEqual(sent(trial.arrives('short', { work: 1 })), [])
  assert.deepEqual(sent(trial.finishes('j1')), ['short a'])
})

test('a job that outgrows its estimate is preempted by a queued one', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a')
  trial.arrives('j1', { work: 1000 })
  trial.arrives('j2', { work: 2000 })
  assert.deepEqual(sent(trial.after(1500).progresses('j1', 3000)), ['j2 a'])
})

test('a preempted job resumes where it was when the shorter one ends', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a')
  trial.arrives('long', { work: 9000 })
  trial.after(1000).arrives('short', { work: 1000 })
  trial.after(1000).finishes('short')
  assert.deepEqual(trial.view.workers[0]!.jobs, [
    { job: 'long', attempt: 1, running: true, done: 1000, remaining: 8000, predicted: 9000, ranMs: 1000 },
  ])
})

test('with several workers a job preempts only one that has twice as much left', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  for (const id of ['a', 'b']) trial.joins(id)
  trial.arrives('j1', { work: 4000 })
  trial.arrives('j2', { work: 4000 })
  assert.deepEqual(sent(trial.arrives('half', { work: 2000 })), [])
  assert.deepEqual(sent(trial.arrives('less', { work: 1999 })), ['less a'])
})

test('a job with an uncertain estimate preempts sooner', () => {
  const takes = (sigma: number, left: number) => {
    const trial = new Trial({ scheduler: 'srpt' })
    for (const id of ['a', 'b']) trial.joins(id)
    for (const id of ['j1', 'j2']) trial.arrives(id, { work: left })
    return sent(trial.arrives('unsure', { work: 1000, high: 1000 * Math.exp(1.645 * sigma) })).length > 0
  }
  fc.assert(
    fc.property(
      fc.double({ min: 0.1, max: 3, noNaN: true }),
      fc.integer({ min: 50, max: 4000 }),
      (sigma, left) => {
        const { expected } = firstExpectation({ work: 1000, high: 1000 * Math.exp(1.645 * sigma) })
        const factor = left / expected
        fc.pre(Math.abs(factor - 1 - Math.exp(-sigma * sigma)) > 1e-6)
        assert.equal(takes(sigma, left), factor > 1 + Math.exp(-sigma * sigma))
      },
    ),
    { numRuns: 200, seed: 6 },
  )
})

test('a single worker always runs the jobs with the least left', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 9 }), (works) => {
      const trial = new Trial({ scheduler: 'srpt' })
      trial.joins('a', { cores: 2, slots: 40 })
      for (const [i, work] of works.entries()) trial.arrives(`j${i}`, { work })
      const running = trial.view.workers[0]!.jobs.filter((job) => job.running).map((job) => job.remaining)
      assert.deepEqual(
        running.toSorted((a, b) => a - b),
        works.toSorted((a, b) => a - b).slice(0, 2),
      )
    }),
    { seed: 6 },
  )
})

test('of jobs with about as much left, the one with fewer paused jobs on its worker is preempted', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  for (const id of ['a', 'b']) trial.joins(id)
  trial.arrives('on-a', { work: 50_000 })
  trial.arrives('on-b', { work: 20_000 })
  // Then two jobs are paused on a, and none on b.
  trial.arrives('also-on-a', { work: 20_100 })
  assert.equal(trial.at('also-on-a').worker, 'a')
  assert.deepEqual(sent(trial.arrives('short', { work: 5000 })), ['short b'])
})

test('the last slots of a worker are for the shortest jobs', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a', { slots: 8 })
  for (const work of [10_000, 9000, 8000, 7000, 6000]) trial.arrives(`j${work}`, { work })
  assert.equal(trial.view.workers[0]!.jobs.length, 5)
  // Of eight slots three are free, then two, then one.
  assert.deepEqual(sent(trial.arrives('a1', { work: 4500 })), [])
  assert.deepEqual(sent(trial.arrives('a2', { work: 4499 })), ['a2 a'])
  assert.deepEqual(sent(trial.arrives('b1', { work: 2250 })), [])
  assert.deepEqual(sent(trial.arrives('b2', { work: 2249 })), ['b2 a'])
  assert.deepEqual(sent(trial.arrives('c1', { work: 563 })), [])
  assert.deepEqual(sent(trial.arrives('c2', { work: 562 })), ['c2 a'])
})

test('a much faster busy worker is preferred to a slow free one', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('fast', { workPerSecond: 5000 })
  trial.arrives('long', { work: 100_000 })
  trial.joins('slow', { workPerSecond: 1000 })
  assert.deepEqual(sent(trial.arrives('short', { work: 1000 })), ['short fast'])
  trial.joins('fair', { workPerSecond: 3000 })
  assert.deepEqual(sent(trial.arrives('other', { work: 1000 })), ['other fair'])
})

test('a job that could preempt waits for a core that is about to be free', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  for (const id of ['a', 'b']) trial.joins(id)
  trial.arrives('brief', { work: 100 })
  trial.arrives('long', { work: 10_000 })
  trial.after(60)
  const [wait] = only(trial.arrives('next', { work: 1000 }), 'wait')
  assert.deepEqual(wait!.reason, { code: 'core-soon', freeMs: 40, needMs: 1000, insteadOf: 'long' })
  assert.deepEqual(sent(trial.after(40).finishes('brief')), ['next a'])
  // Its timer is gone.
  assert.deepEqual(sent(trial.after(10).tick()), [])
  assert.deepEqual(trial.brain.view().leftBehind(), undefined)
})

test('it waits a bounded time, whether that core becomes free or not', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  for (const id of ['a', 'b']) trial.joins(id)
  trial.arrives('brief', { work: 100 })
  trial.arrives('long', { work: 10_000 })
  trial.after(60).arrives('next', { work: 1000 })
  assert.deepEqual(sent(trial.after(49).tick()), [])
  const [run] = only(trial.after(1).tick(), 'run')
  assert.deepEqual([run!.worker, run!.reason.code, run!.reason.preempts], ['b', 'shorter', 'long'])
})

test('it does not wait for a later core, with one worker, or if it goes first', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  for (const id of ['a', 'b']) trial.joins(id)
  trial.arrives('brief', { work: 100 })
  trial.arrives('long', { work: 10_000 })
  assert.deepEqual(sent(trial.after(40).arrives('soon', { work: 1000 })), ['soon b'])
  const alone = new Trial({ scheduler: 'srpt' })
  alone.joins('a', { cores: 2 })
  alone.arrives('brief', { work: 100 })
  alone.arrives('long', { work: 10_000 })
  assert.deepEqual(sent(alone.after(60).arrives('soon', { work: 1000 })), ['soon a'])
  const urgent = new Trial({ scheduler: 'srpt' })
  for (const id of ['a', 'b']) urgent.joins(id)
  urgent.arrives('brief', { work: 100 })
  urgent.arrives('long', { work: 10_000 })
  const begun = urgent.after(60).arrives('now', { work: 1000, deadlineAt: 1200 })
  assert.deepEqual(sent([...begun, ...urgent.tick()]), ['now b'])
})

test('a job that is placed again while it waits for a core waits once', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  for (const id of ['a', 'b', 'c']) trial.joins(id)
  trial.arrives('brief', { work: 400 })
  trial.arrives('long', { work: 100_000 })
  trial.arrives('next', { work: 10_000 })
  trial.after(120).fails('next', 'unreachable')
  trial.tell({ type: 'lost', worker: 'c' })
  const waits = only(trial.history, 'wait').filter(({ job }) => job === 'next')
  assert.deepEqual(
    waits.map(({ reason }) => reason.code),
    ['core-soon', 'core-soon'],
  )
  assert.deepEqual(sent(trial.after(280).finishes('brief')), ['next a'])
  for (let i = 0; i < 20; i++) assert.deepEqual(sent(trial.after(100).tick()), [])
  assert.equal(trial.at('next').attempt, 2)
})

test('a job that could start is not rejected because it prefers to wait', () => {
  const trial = new Trial({ scheduler: 'srpt', limits: { queue: 0 } })
  for (const id of ['a', 'b']) trial.joins(id)
  trial.arrives('brief', { work: 100 })
  trial.arrives('long', { work: 10_000 })
  assert.deepEqual(sent(trial.after(60).arrives('next', { work: 1000 })), ['next b'])
})

test('of jobs that must start now, the one with the latest start is preempted', () => {
  const trial = new Trial({ scheduler: 'srpt', limits: { mostSlowdown: 0 } })
  trial.joins('a', { cores: 2 })
  const urgent = (id: string, work: number, due: number) => {
    trial.arrives(id, { work, deadlineAt: due + work * 1.25 })
    return trial.tick()
  }
  trial.after(100)
  // The first ends last, but must start first.
  urgent('first', 9000, 10)
  urgent('third', 1000, 50)
  assert.deepEqual(sent(urgent('fourth', 10, 60)), [])
  const [run] = only(urgent('second', 5000, 30), 'run')
  assert.deepEqual([run!.reason.code, run!.reason.preempts], ['goes-first', 'third'])
})
