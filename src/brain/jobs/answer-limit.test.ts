import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explain } from '../../story/reasons.ts'
import type { BrainLimits } from '../limits.ts'
import { answers, only, sent, Trial } from '../testing/trial.ts'

const rule = { factor: 2, leastMs: 500, heartbeatMs: 300 }

/** Two workers that do 1,000 units a second, and a job. */
function begin(limits: Partial<BrainLimits> = {}, work = 1000): Trial {
  const trial = new Trial({
    limits: { beatMs: 100, missedBeats: 1e6, freshMs: 1e9, answers: rule, ...limits },
  })
  for (const id of ['a', 'b']) trial.joins(id)
  trial.arrives('j', { work })
  return trial
}

/** Lets time pass; then all workers report what they hold, and answer pings. */
function pass(trial: Trial, ms: number): ReturnType<Trial['tick']> {
  trial.after(ms)
  for (const { id, jobs } of trial.view.workers)
    trial.reports(
      id,
      jobs.map(({ job }) => trial.held(job)),
    )
  const actions = trial.tick()
  for (const { id } of trial.view.workers) trial.answersPings(id)
  return actions
}

test('a worker that reports gets the attempt again, each time with twice the limit', () => {
  const trial = begin()
  const sentAgain: number[] = []
  for (let ms = 0; ms < 20_000; ms += 100) {
    if (sent(pass(trial, 100)).length > 0) sentAgain.push(trial.now)
  }
  assert.deepEqual(sentAgain, [2800, 2800 + 5300, 8100 + 10_300])
  const [retry] = only(trial.history, 'retry')
  assert.match(explain(retry!.reason), /and the worker is alive$/)
})

test('the limit covers all jobs of the worker, which share its cores', () => {
  const trial = begin()
  trial.arrives('k', { work: 1000 })
  trial.arrives('l', { work: 1000 })
  const last = trial.at('l').worker
  // The worker needs 2 s for all three.
  assert.equal(last, trial.at('j').worker)
  const again = sent(pass(trial, 2500)).concat(sent(pass(trial, 300)))
  assert.deepEqual(again.map((text) => text.split(' ')[0]).toSorted(), ['j', 'k'])
  assert.deepEqual(sent(pass(trial, 1700)).concat(sent(pass(trial, 300))), [`l ${last}`])
})

test('an answer that has begun to arrive has no limit', () => {
  const trial = begin()
  trial.tell({ type: 'answering', ...trial.at('j') })
  for (let i = 0; i < 100; i++) assert.deepEqual(sent(pass(trial, 100)), [])
})

test('without the rule no limit applies', () => {
  const trial = begin({ answers: null })
  const timers = trial.view.timers
  assert.deepEqual(sent(trial.after(1e6).tick()), [])
  assert.equal(trial.view.timers, timers)
})

test('a worker that reports, but does not answer the ping, is lost', () => {
  const trial = begin()
  const { worker } = trial.at('j')
  trial.after(2500).tick()
  trial.after(299).reports(worker, [trial.held('j')])
  assert.deepEqual(only(trial.tick(), 'terminate'), [])
  const [lost] = only(trial.after(1).tick(), 'terminate')
  assert.equal(lost!.worker, worker)
  assert.match(
    explain(lost!.reason),
    /^an answer was overdue after 2\.5 s, and no heartbeat came within 300 ms$/,
  )
  assert.notEqual(trial.at('j').worker, worker)
})

test('a worker that cannot be reached is pinged once, and is lost if it does not answer', () => {
  for (const answers of [true, false]) {
    const trial = begin()
    trial.arrives('k')
    const { worker } = trial.at('j')
    trial.fails('j', 'unreachable')
    trial.after(100).tick()
    assert.deepEqual(
      only(trial.history, 'ping').map((ping) => ping.worker),
      [worker],
    )
    if (answers) trial.answersPings(worker)
    const [lost] = only(trial.after(200).tick(), 'terminate')
    assert.equal(lost?.worker, answers ? undefined : worker)
    if (lost) assert.match(explain(lost.reason), /^it could not be reached, and no heartbeat/)
  }
})

test('without a heartbeat the job is placed again, or on another worker only', () => {
  for (const excludes of [false, true]) {
    const trial = begin({ answers: { factor: 2, leastMs: 500, excludes } })
    const { worker } = trial.at('j')
    // The other worker is busier.
    for (const id of ['k', 'l', 'm']) trial.arrives(id, { work: 1e9 })
    const other = worker === 'a' ? 'b' : 'a'
    const [first] = sent(trial.after(1e7).tick()).filter((text) => text.startsWith('j '))
    assert.equal(first, `j ${excludes ? other : trial.at('j').worker}`)
    assert.deepEqual(only(trial.history, 'ping'), [])
    const [retry] = only(trial.history, 'retry')
    assert.match(explain(retry!.reason), /^no answer came within/)
    assert.equal(only(trial.history, 'cancel')[0]!.worker, worker)
  }
})

test('overdue attempts count towards the maximum number of attempts', () => {
  const trial = begin({ attempts: 2 })
  const told = Array.from({ length: 100 }, () => answers(pass(trial, 100))).flat()
  assert.deepEqual(told, ['j refused attempts'])
})
