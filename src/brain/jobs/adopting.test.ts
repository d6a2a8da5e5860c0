import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Ongoing } from '../../model/attempt.ts'
import type { Job } from '../../model/job.ts'
import { answers, only, sent, Trial } from '../testing/trial.ts'

const recoverMs = 5_000
/** The second brain: the first one had sent an attempt at the job to `a`. */
function takeOver() {
  const trial = new Trial({ epoch: 2, scheduler: 'srpt', discipline: 'srpt', limits: { recoverMs } })
  trial.tick()
  const on: Ongoing = { worker: 'a', epoch: 1, attempt: 3 }
  const token = { epoch: 1, job: 'j', attempt: 3 }
  const claims = (job: Partial<Job> = {}, more: Partial<Ongoing> = {}) =>
    trial.tell({
      ...{ type: 'arrived', on: { ...on, ...more } },
      job: { id: 'j', workload: 'w', work: 1000, memoryMb: 1, ...job },
    })
  const finishes = () => trial.tell({ type: 'finished', ...token, worker: 'a', work: 1000 })
  return { trial, token, claims, finishes }
}

test('an attempt of an earlier brain goes on if its worker joins and then its front claims it', () => {
  const { trial, token, claims, finishes } = takeOver()
  assert.deepEqual(only(trial.joins('a', {}, { held: [{ ...token, done: 400 }] }), 'cancel'), [])
  const actions = claims()
  assert.deepEqual([sent(actions), only(actions, 'adopt').length], [[], 1])
  const [job] = trial.view.workers[0]!.jobs
  assert.deepEqual([job?.running, job?.done, job?.remaining], [true, 400, 600])
  assert.deepEqual(answers(finishes()), ['j result finished'])
  assert.deepEqual(only(trial.after(recoverMs).tick(), 'cancel'), [])
})

test('an attempt of an earlier brain goes on if its front claims it and then its worker joins', () => {
  const { trial, token, claims, finishes } = takeOver()
  assert.deepEqual(sent(claims()), [])
  const actions = trial.after(1000).joins('a', {}, { held: [{ ...token, done: 400 }] })
  assert.deepEqual([sent(actions), only(actions, 'cancel')], [[], []])
  assert.equal(trial.view.workers[0]!.jobs[0]?.done, 400)
  assert.deepEqual(answers(finishes()), ['j result finished'])
})

test('a result counts even if its worker has not joined', () => {
  const { trial, claims, finishes } = takeOver()
  claims()
  assert.deepEqual(answers(finishes()), ['j result finished'])
  assert.equal(trial.view.leftBehind(), undefined)
})

test('an attempt whose worker does not join in time is retried with a new token', () => {
  const { trial, claims } = takeOver()
  trial.joins('b')
  claims()
  const [run] = only(trial.after(recoverMs).tick(), 'run')
  assert.deepEqual([run?.worker, run?.epoch, run?.attempt], ['b', 2, 4])
})

test('an attempt that must not be repeated ends with an unknown outcome if its worker does not join', () => {
  const { trial, claims } = takeOver()
  trial.joins('b')
  claims({ safeToRepeat: false }, { committed: true })
  assert.deepEqual(answers(trial.after(recoverMs).tick()), ['j unknown outcome-unknown'])
})

test('an attempt that no front claims occupies its worker, and is cancelled after the recovery', () => {
  const { trial, token } = takeOver()
  trial.joins('a', {}, { held: [token] })
  assert.deepEqual(sent(trial.arrives('other')), [])
  assert.deepEqual(only(trial.after(1000).reports('a', [token]), 'cancel'), [])
  const actions = trial.after(recoverMs).tick()
  assert.deepEqual(
    only(actions, 'cancel').map(({ epoch, job, attempt }) => ({ epoch, job, attempt })),
    [token],
  )
  assert.deepEqual(sent(actions), ['other a'])
})

test('an unclaimed attempt that ends frees its worker', () => {
  const { trial, token } = takeOver()
  trial.joins('a', {}, { held: [token] })
  trial.arrives('other')
  assert.deepEqual(sent(trial.after(1000).reports('a')), ['other a'])
})

test('an attempt that asks to start may be claimed first', () => {
  const { trial, token, claims } = takeOver()
  trial.joins('a', {}, { held: [token] })
  const ask = () => trial.tell({ type: 'ready', worker: 'a', ...token })
  assert.deepEqual(ask(), [])
  claims({ safeToRepeat: false })
  const [go] = only(ask(), 'go')
  assert.deepEqual([go?.epoch, go?.attempt], [1, 3])
  trial.tell({ type: 'lost', worker: 'a' })
  assert.deepEqual(answers(trial.history), ['j unknown outcome-unknown'])
})

test('an adopted attempt is cancelled, ranked and superseded by its own token', () => {
  const { trial, token, claims } = takeOver()
  trial.joins('a', {}, { held: [token] })
  claims()
  assert.deepEqual(
    only(trial.tell({ type: 'finished', ...token, epoch: 2, worker: 'a', work: 1 }), 'drop').length,
    1,
  )
  const [cancel] = only(trial.tell({ type: 'cancelled', job: 'j' }), 'cancel')
  assert.deepEqual([cancel?.epoch, cancel?.attempt], [1, 3])
})

test('after the recovery an attempt of an earlier brain is not adopted', () => {
  const { trial, claims } = takeOver()
  trial.after(recoverMs).tick()
  trial.joins('b')
  const [run] = only(claims(), 'run')
  assert.deepEqual([run?.worker, run?.epoch, run?.attempt], ['b', 2, 4])
})

test('an adopted attempt that its worker never holds is retried once messages have settled', () => {
  const { trial, claims } = takeOver()
  trial.joins('a')
  claims()
  trial.after(1000).reports('a')
  trial.after(1000).reports('a')
  const [run] = only(trial.after(1000).reports('a'), 'run') ?? []
  const runs = only(trial.history, 'run')
  assert.equal(runs.length, 1)
  assert.deepEqual([(run ?? runs[0])?.epoch, (run ?? runs[0])?.attempt], [2, 4])
})

test('a deadline ends an adopted attempt', () => {
  const { trial, token, claims } = takeOver()
  trial.joins('a', {}, { held: [token] })
  claims({ deadlineAt: trial.now + 100, work: 100_000 })
  assert.deepEqual(answers(trial.history), [])
  assert.deepEqual(answers(trial.after(100).tick()), ['j refused deadline'])
})

test('a brain that takes over claims attempts of the leader before, long after its own start', () => {
  const trial = new Trial({ epoch: 7, scheduler: 'srpt', discipline: 'srpt', limits: { recoverMs } })
  trial.tick()
  trial.after(10 * recoverMs).tick()
  trial.tell({ type: 'took-over', epoch: 20 })
  const token = { epoch: 12, job: 'j', attempt: 3 }
  assert.deepEqual(only(trial.joins('a', {}, { held: [{ ...token, done: 400 }] }), 'cancel'), [])
  const on: Ongoing = { worker: 'a', epoch: 12, attempt: 3 }
  const job = { id: 'j', workload: 'w', work: 1000, memoryMb: 1 }
  assert.deepEqual(sent(trial.tell({ type: 'arrived', on, job })), [])
  const done = trial.tell({ type: 'finished', ...token, worker: 'a', work: 1000 })
  assert.deepEqual(answers(done), ['j result finished'])
  const [run] = only(trial.arrives('next', { work: 10 }), 'run')
  assert.equal(run?.epoch, 20)
})

test('what nobody claims after a take-over is cancelled when the time for that is over', () => {
  const trial = new Trial({ epoch: 7, scheduler: 'srpt', discipline: 'srpt', limits: { recoverMs } })
  trial.tick()
  trial.after(10 * recoverMs).tick()
  trial.tell({ type: 'took-over', epoch: 20 })
  trial.joins('a', {}, { held: [{ epoch: 12, job: 'j', attempt: 3 }] })
  const [cancel] = only(trial.after(recoverMs).tick(), 'cancel')
  assert.deepEqual([cancel?.job, cancel?.epoch, cancel?.reason.code], ['j', 12, 'unclaimed'])
})
