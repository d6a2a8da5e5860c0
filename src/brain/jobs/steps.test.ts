import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Reason } from '../../model/reason.ts'
import { createBrain } from '../brain.ts'
import type { ScaleDecision, Scaler, WorkerFigures } from '../scale/scaler.ts'
import { leastConnections } from '../schedule/least-connections.ts'
import type { Scheduler, SchedulerFactory } from '../schedule/scheduler.ts'
import { only, sent, Trial } from '../testing/trial.ts'

const reason: Reason = { code: 'test' }

/** A scaler that returns the given decisions, once each. */
function told(more: Partial<Scaler> = {}) {
  const next: ScaleDecision[] = []
  const seen: WorkerFigures[][] = []
  const scaler: Scaler = {
    name: 'told',
    everyMs: 1000,
    decide(view) {
      seen.push(view.workers())
      return next.shift() ?? { kind: 'hold', reason }
    },
    ...more,
  }
  return { next, seen, scaler }
}

function trialOf(scaler: Scaler, scheduler: SchedulerFactory = leastConnections, mostWorkers = 9): Trial {
  const trial = new Trial()
  trial.brain = createBrain({ scheduler, scaler, discipline: 'sharing', mostWorkers })
  return trial
}

test('a scaler may name the workers to drain and end; jobs of an ended worker are retried', () => {
  const { next, seen, scaler } = told()
  const trial = trialOf(scaler)
  for (const id of ['a', 'b', 'c']) trial.joins(id)
  for (const job of ['1', '2', '3']) trial.arrives(job)
  next.push({
    kind: 'steps',
    reason,
    launch: { count: 2, reason },
    drain: [{ worker: 'b', reason }],
    end: [{ worker: 'a', reason }],
  })
  const actions = trial.after(1000).tick()
  assert.equal(only(actions, 'launch').length, 2)
  assert.deepEqual(
    only(actions, 'drain').map(({ worker }) => worker),
    ['b'],
  )
  assert.deepEqual(
    only(actions, 'terminate').map(({ worker }) => worker),
    ['a'],
  )
  assert.equal(trial.at('1').worker, 'c')
  assert.equal(only(actions, 'retry')[0]?.reason.code, 'worker-ended')
  const work = seen.at(-1)!.map(({ id, jobs, work, draining, cpu }) => [id, jobs, work, draining, cpu])
  assert.deepEqual(work[0], ['a', 1, 1000, false, null])
})

test('drained workers end at once, unless the scaler ends them', () => {
  for (const endsDrained of [false, true]) {
    const { next, scaler } = told({ endsDrained })
    const trial = trialOf(scaler)
    trial.joins('a')
    next.push({ kind: 'steps', reason, drain: [{ worker: 'a', reason }] })
    assert.equal(only(trial.after(1000).tick(), 'terminate').length, endsDrained ? 0 : 1)
    next.push({ kind: 'steps', reason, end: [{ worker: 'a', reason }] })
    assert.equal(only(trial.after(1000).tick(), 'terminate').length, endsDrained ? 1 : 0)
  }
})

test('a scaler learns of lost workers before it decides', () => {
  const lost: string[] = []
  const { seen, scaler } = told({ lost: (worker) => void lost.push(worker) })
  const trial = trialOf(scaler)
  trial.joins('a')
  const before = seen.length
  trial.tell({ type: 'lost', worker: 'a' })
  assert.deepEqual(lost, ['a'])
  assert.equal(seen.length, before + 1)
})

/** Launches one worker for each job, and gives the job to that worker only. */
const oneEach: SchedulerFactory = ({ fleet }): Scheduler => ({
  name: 'one-each',
  patient: true,
  rank: () => 0,
  refile: () => {},
  place(record, now) {
    if (record.awaits !== undefined && fleet.isBooting(record.awaits)) return { reason, again: now + 5000 }
    return fleet.room() > 0 ? { reason, launch: reason } : { reason, again: now + 5000 }
  },
  fits: (worker, record) => worker.launch === record.awaits,
  takes: () => reason,
})

test('a job may have a worker launched for it, and stays queued until that worker joins', () => {
  const { scaler } = told()
  const trial = trialOf(scaler, oneEach, 2)
  const first = only(trial.arrives('1'), 'launch')[0]!.launch
  const second = only(trial.arrives('2'), 'launch')[0]!.launch
  assert.deepEqual(only(trial.arrives('3'), 'launch'), [])
  assert.deepEqual(sent(trial.joins('b', {}, { launch: second })), ['2 b'])
  assert.deepEqual(sent(trial.joins('a', {}, { launch: first })), ['1 a'])
  assert.deepEqual(trial.view.waiting, ['3'])
  // Once a worker is lost, one may be launched again: for its job, which is retried.
  assert.equal(only(trial.tell({ type: 'lost', worker: 'b' }), 'launch').length, 1)
  assert.deepEqual(only(trial.after(5000).tick(), 'launch'), [])
})
