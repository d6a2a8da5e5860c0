import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ContractError } from '../../lib/errors.ts'
import { answers, only, sent, Trial } from '../testing/trial.ts'

test('a job that arrives is sent to a worker with room', () => {
  const trial = new Trial()
  trial.joins('a')
  assert.deepEqual(sent(trial.arrives('j1')), ['j1 a'])
  assert.deepEqual(trial.at('j1'), { epoch: 1, job: 'j1', attempt: 1, worker: 'a' })
})

test('a finished job is answered once, and forgotten', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1')
  assert.deepEqual(answers(trial.finishes('j1')), ['j1 result finished'])
  assert.deepEqual(answers(trial.finishes('j1')), [])
  assert.equal(trial.view.jobs, 0)
})

test('a job without a worker is queued, and goes to the first worker that joins', () => {
  const trial = new Trial()
  assert.deepEqual(only(trial.arrives('j1'), 'wait').length, 1)
  assert.deepEqual(trial.view.waiting, ['j1'])
  assert.deepEqual(sent(trial.joins('a')), ['j1 a'])
})

test('a queued job goes to the first worker that has room', () => {
  const trial = new Trial()
  trial.joins('a', { slots: 1 })
  trial.joins('b', { slots: 1 })
  for (const job of ['j1', 'j2', 'j3']) trial.arrives(job)
  assert.deepEqual(sent(trial.finishes('j2')), ['j3 b'])
})

test('queued jobs start in order of arrival', () => {
  const trial = new Trial()
  for (const job of ['j1', 'j2', 'j3']) trial.arrives(job)
  assert.deepEqual(sent(trial.joins('a', { slots: 2 })), ['j1 a', 'j2 a'])
})

test('a job that arrives at a full queue is refused', () => {
  const trial = new Trial({ limits: { queue: 1 } })
  trial.arrives('j1')
  assert.deepEqual(answers(trial.arrives('j2')), ['j2 refused queue-full'])
  assert.deepEqual(trial.view.waiting, ['j1'])
})

test('a job that is retried is queued even if the queue is full', () => {
  const trial = new Trial({ limits: { queue: 1 } })
  trial.joins('a', { slots: 1 })
  trial.arrives('j1')
  trial.arrives('j2')
  trial.tell({ type: 'lost', worker: 'a' })
  assert.deepEqual(trial.view.waiting.toSorted(), ['j1', 'j2'])
})

test('memory limits what a worker holds, but an empty worker takes a job of any size', () => {
  const trial = new Trial()
  trial.joins('a', { memoryMb: 100 })
  assert.deepEqual(sent(trial.arrives('j1', { memoryMb: 500 })), ['j1 a'])
  assert.deepEqual(sent(trial.arrives('j2', { memoryMb: 1 })), [])
  assert.deepEqual(sent(trial.finishes('j1')), ['j2 a'])
})

test("a small job passes a large one that does not fit into the worker's memory", () => {
  const trial = new Trial()
  trial.joins('a', { memoryMb: 100, slots: 2 })
  trial.arrives('j1', { memoryMb: 60 })
  trial.arrives('j2', { memoryMb: 10 })
  trial.arrives('large', { memoryMb: 90 })
  trial.arrives('small', { memoryMb: 10 })
  assert.deepEqual(sent(trial.finishes('j2')), ['small a'])
})

test('the memory of slots for small jobs is not given to other jobs', () => {
  const trial = new Trial()
  trial.joins('a', { memoryMb: 100 })
  trial.reportsSmall('a', 60)
  // An empty worker takes a job of any size.
  assert.deepEqual(sent(trial.arrives('j1', { memoryMb: 50 })), ['j1 a'])
  assert.deepEqual(sent(trial.arrives('j2', { memoryMb: 10 })), [])
  trial.reportsSmall('a', Number.NaN, [trial.held('j1')])
  assert.deepEqual(trial.view.waiting, ['j2'])
  assert.deepEqual(sent(trial.reportsSmall('a', 40, [trial.held('j1')])), ['j2 a'])
  // Slots for small jobs that have ended are not reported.
  trial.reports('a', [trial.held('j1'), trial.held('j2')])
  assert.deepEqual(sent(trial.arrives('j3', { memoryMb: 40 })), ['j3 a'])
})

test('fractions of a megabyte add up to zero when the worker is empty', () => {
  const trial = new Trial()
  trial.joins('a')
  for (const memoryMb of [0.1, 0.2, 0.3, 0.7]) trial.arrives(`j${memoryMb}`, { memoryMb })
  for (const memoryMb of [0.1, 0.2, 0.3, 0.7]) trial.finishes(`j${memoryMb}`)
  assert.equal(trial.view.workers[0]!.usedMemoryMb, 0)
})

test("a workload's own error is the client's answer and is not retried", () => {
  for (const kind of ['error', 'limit'] as const) {
    const trial = new Trial()
    trial.joins('a')
    trial.joins('b')
    trial.arrives('j1')
    const actions = trial.fails('j1', kind)
    assert.deepEqual(answers(actions), [`j1 error ${kind}`])
    assert.deepEqual(sent(actions), [])
  }
})

test('a client that disconnects while its job is queued gets no answer', () => {
  const trial = new Trial()
  trial.arrives('j1')
  assert.deepEqual(trial.tell({ type: 'cancelled', job: 'j1' }), [])
  assert.deepEqual(sent(trial.joins('a')), [])
  assert.equal(trial.view.counters.cancelled, 1)
})

test('a client that disconnects while its job runs stops it, and frees its slot', () => {
  const trial = new Trial()
  trial.joins('a', { slots: 1 })
  trial.arrives('j1')
  trial.arrives('j2')
  const actions = trial.tell({ type: 'cancelled', job: 'j1' })
  assert.deepEqual(answers(actions), [])
  assert.equal(only(actions, 'cancel')[0]!.job, 'j1')
  assert.deepEqual(sent(actions), ['j2 a'])
})

test('disconnecting twice, or after the job is over, does nothing', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1')
  trial.finishes('j1')
  assert.deepEqual(trial.tell({ type: 'cancelled', job: 'j1' }), [])
  assert.deepEqual(trial.tell({ type: 'cancelled', job: 'never' }), [])
  assert.equal(trial.view.counters.cancelled, 0)
})

test('a job whose deadline passes while it is queued is refused', () => {
  const trial = new Trial()
  trial.arrives('j1', { deadlineAt: 50 })
  assert.deepEqual(answers(trial.after(50).tick()), ['j1 refused deadline'])
  assert.equal(trial.view.timers, 0)
})

test('a job whose deadline passes while it runs is refused and cancelled', () => {
  const trial = new Trial()
  trial.joins('a', { slots: 1 })
  trial.arrives('j1', { deadlineAt: 50 })
  trial.arrives('j2')
  const actions = trial.after(60).tick()
  assert.deepEqual(answers(actions), ['j1 refused deadline'])
  assert.equal(only(actions, 'cancel')[0]!.job, 'j1')
  assert.deepEqual(sent(actions), ['j2 a'])
})

test('a job whose deadline has passed on arrival is refused at once', () => {
  const trial = new Trial().after(100)
  trial.joins('a')
  const actions = trial.arrives('j1', { deadlineAt: 100 })
  assert.deepEqual(answers(actions), ['j1 refused deadline'])
  assert.deepEqual(sent(actions), [])
})

test('a job that is over leaves no timer behind', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1', { deadlineAt: 50 })
  trial.finishes('j1')
  assert.equal(trial.view.timers, 0)
})

test('a job id that is in use throws a ContractError and changes nothing', () => {
  const trial = new Trial()
  trial.joins('a')
  trial.arrives('j1')
  assert.throws(() => trial.arrives('j1'), ContractError)
  assert.equal(trial.view.counters.accepted, 1)
  assert.deepEqual(answers(trial.finishes('j1')), ['j1 result finished'])
})

test('a job with invalid numbers throws a ContractError and changes nothing', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a')
  for (const odd of [
    { work: Number.NaN },
    { work: -1 },
    { memoryMb: Infinity },
    { deadlineAt: Number.NaN },
    { speed: { expected: 0, high: 1 } },
    { speed: { expected: 1, high: Number.NaN } },
  ]) {
    assert.throws(() => trial.arrives('j1', odd), ContractError)
  }
  assert.deepEqual([trial.view.jobs, trial.view.timers, trial.view.counters.accepted], [0, 0, 0])
})

test('progress that is not a number is ignored', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a')
  trial.arrives('j1')
  for (const done of [Number.NaN, Infinity, -5]) trial.progresses('j1', done)
  trial.reports('a', [trial.held('j1', Number.NaN)])
  assert.equal(trial.view.workers[0]!.jobs[0]!.remaining, 1000)
})

test('a job that outgrows its estimate is assumed to be half done', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a')
  trial.arrives('j1', { work: 1000 })
  trial.progresses('j1', 1499)
  assert.equal(trial.view.workers[0]!.jobs[0]!.remaining, 0)
  trial.progresses('j1', 1500)
  assert.equal(trial.view.workers[0]!.jobs[0]!.remaining, 1500)
})

test('a clock that goes back does not undo work', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a')
  trial.arrives('j1', { work: 1000 })
  trial.after(500).tick()
  trial.after(-400).tick()
  assert.equal(trial.view.workers[0]!.jobs[0]!.remaining, 500)
  assert.equal(trial.view.now, 500)
})
