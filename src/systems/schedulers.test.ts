import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { share } from '../../test/support/thorough.ts'
import { only, sent, Trial } from '../brain/testing/trial.ts'
import { stream } from '../lib/random.ts'
import { type SchedulerName, schedulers } from './schedulers.ts'

const limits = { beatMs: 1000, freshMs: 1e9, missedBeats: 1e6 }

/** The workers that 40 jobs in a row were sent to. */
function targets(scheduler: SchedulerName, prepare: (trial: Trial) => void): Set<string> {
  // Some policies fill one worker before the next.
  const trial = new Trial({ scheduler, limits, placing: { mostWork: 10_000 } })
  prepare(trial)
  for (let i = 0; i < 40; i++) trial.arrives(`t${i}`, { work: 1000 - i })
  return new Set(
    only(trial.history, 'run')
      .filter(({ job }) => job.startsWith('t'))
      .map((run) => run.worker),
  )
}

/** No policy picks a worker in one of these states. */
function pickingContract(scheduler: SchedulerName): void {
  test('a draining worker is never picked', () => {
    const picked = targets(scheduler, (trial) => {
      for (const id of ['a', 'b', 'c']) trial.joins(id, { slots: 100, cores: 100 })
      trial.arrives('first')
      trial.tell({ type: 'drain', worker: trial.at('first').worker })
    })
    assert.equal(picked.size, 2)
  })

  test('an unreachable worker is never picked until it reports', () => {
    const picked = targets(scheduler, (trial) => {
      for (const id of ['a', 'b']) trial.joins(id, { slots: 100, cores: 100 })
      trial.arrives('first')
      trial.fails('first', 'unreachable')
      trial.finishes('first')
    })
    assert.equal(picked.size, 1)
    const trial = new Trial({ scheduler, limits })
    trial.joins('a')
    trial.arrives('first')
    trial.fails('first', 'unreachable')
    assert.deepEqual(sent(trial.reports('a')), ['first a'])
  })

  test('a terminated worker is never picked', () => {
    const picked = targets(scheduler, (trial) => {
      for (const id of ['a', 'b', 'c']) trial.joins(id, { slots: 100, cores: 100 })
      trial.tell({ type: 'lost', worker: 'b' })
    })
    assert.ok(!picked.has('b'))
    assert.equal(picked.size, 2)
  })
}

/** No policy picks a worker without room for the job, or one that failed it. */
function roomContract(scheduler: SchedulerName): void {
  test('a full worker is never picked', () => {
    const trial = new Trial({ scheduler })
    for (const id of ['a', 'b', 'c']) trial.joins(id, { slots: 2 })
    for (let i = 0; i < 40; i++) trial.arrives(`j${i}`, { work: 1000 - i })
    for (const worker of trial.view.workers) assert.ok(worker.jobs.length <= 2)
    for (let i = 0; i < 40; i++) {
      for (const { jobs } of trial.view.workers) if (jobs[0]) trial.finishes(jobs[0].job)
      for (const worker of trial.view.workers) assert.ok(worker.jobs.length <= 2)
    }
    assert.equal(trial.view.jobs, 0)
  })

  test('a worker without enough memory is not picked, unless it is empty', () => {
    const trial = new Trial({ scheduler })
    for (const id of ['a', 'b']) trial.joins(id, { memoryMb: 100, cores: 4 })
    for (let i = 0; i < 10; i++) trial.arrives(`j${i}`, { memoryMb: 60 })
    assert.deepEqual(
      trial.view.workers.map((worker) => worker.jobs.length),
      [1, 1],
    )
    trial.arrives('small', { memoryMb: 40 })
    assert.equal(trial.view.placed, 3)
  })

  test('a worker that failed a job is not picked for it while another exists', () => {
    for (let seed = 1; seed <= share(20); seed++) {
      const trial = new Trial({ scheduler, seed, limits: { crashes: 10, losses: 10 } })
      const ids = ['a', 'b', 'c', 'd']
      for (const id of ids) trial.joins(id)
      trial.arrives('j')
      const tried = [trial.at('j').worker]
      for (let i = 0; i < 3; i++) {
        trial.fails('j', 'crash')
        tried.push(trial.at('j').worker)
      }
      assert.deepEqual(tried.toSorted(), ids)
      assert.equal(sent(trial.fails('j', 'crash')).length, 1)
    }
  })
}

/** No policy leaves a job queued beside an empty worker. */
function queueingContract(scheduler: SchedulerName): void {
  test('a job is never queued beside an empty worker, however many others lack the memory', () => {
    for (const spare of [0, 50, 149]) {
      const trial = new Trial({ scheduler })
      const speed = (i: number) => (i === spare ? 1000 : 2000)
      for (let i = 0; i < 150; i++) trial.joins(`w${i}`, { cores: 2, memoryMb: 100, workPerSecond: speed(i) })
      for (let i = 0; i < 150; i++) trial.arrives(`j${i}`, { memoryMb: 100 })
      const there = trial.view.workers[spare]!.jobs[0]!.job
      trial.finishes(there)
      assert.deepEqual(sent(trial.arrives('late', { memoryMb: 50 })), [`late w${spare}`])
      assert.equal(only(trial.arrives('later', { memoryMb: 60 }), 'wait').length, 1)
    }
  })

  test('an empty worker that failed the job is skipped for another empty one, but not forgotten', () => {
    const trial = new Trial({ scheduler })
    for (let i = 0; i < 150; i++) trial.joins(`w${i}`, { cores: 2, memoryMb: 100 })
    for (let i = 0; i < 150; i++) trial.arrives(`j${i}`, { memoryMb: 100 })
    trial.finishes('j70')
    trial.finishes('j80')
    trial.arrives('large', { memoryMb: 100 })
    const failed = trial.at('large').worker
    trial.fails('large', 'crash')
    assert.notEqual(trial.at('large').worker, failed)
    assert.deepEqual(sent(trial.arrives('next', { memoryMb: 50 })), [`next ${failed}`])
  })

  test('while workers join and leave, no job is lost or queued beside an empty worker', () => {
    for (let seed = 1; seed <= share(10); seed++) {
      const trial = storm(scheduler, seed, 400)
      const { accepted, results } = trial.view.counters
      assert.equal(accepted, results + trial.view.jobs)
    }
  })
}

/** Workers and jobs that come and go, drawn from a seed. */
function storm(scheduler: SchedulerName, seed: number, steps: number): Trial {
  const random = stream(seed, 'storm')
  const trial = new Trial({
    scheduler,
    seed,
    limits: { beatMs: 1000, crashes: 1000, losses: 1000, attempts: 1000 },
  })
  for (let step = 1; step <= steps; step++) {
    trial.after(random.below(50))
    const { workers } = trial.view
    const worker = workers[random.below(workers.length)]
    const held = worker?.jobs[random.below(worker.jobs.length)]
    const draw = random.below(20)
    if (workers.length < 2 || draw === 0) {
      const speed = 500 + 500 * random.below(2)
      trial.joins(`w${step}`, {
        cores: 1 + random.below(3),
        slots: 1 + random.below(5),
        memoryMb: 200,
        workPerSecond: speed,
      })
    } else if (draw === 1) trial.tell({ type: 'lost', worker: worker!.id })
    else if (draw === 2) trial.tell({ type: 'drain', worker: worker!.id })
    else if (draw === 3)
      trial.reports(
        worker!.id,
        worker!.jobs.map(({ job }) => trial.held(job)),
      )
    else if (draw < 6 && held) trial.fails(held.job, draw === 4 ? 'unreachable' : 'crash')
    else if (draw < 12 && held) trial.finishes(held.job)
    else trial.arrives(`j${step}`, { work: 100 + random.below(5000), memoryMb: random.below(150) })
    assert.equal(trial.view.idleBeside(), undefined)
  }
  return trial
}

for (const name of Object.keys(schedulers) as SchedulerName[])
  describe(name, () => {
    pickingContract(name)
    roomContract(name)
    queueingContract(name)
  })
