import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OwnPauses } from './own-pauses.ts'
import { answers, only, sent, Trial } from './testing/trial.ts'

const beats = { beatMs: 1000, missedBeats: 3, freshMs: 10_000 }

/** The brain does not run for this time. */
function pause(trial: Trial, ms: number): void {
  trial.after(ms).tell({ type: 'paused', ms })
}

const ended = (trial: Trial) => only(trial.tick(), 'terminate').map(({ reason }) => reason)

test('pauses add up, overlap only once, and count only after the given time', () => {
  const pauses = new OwnPauses()
  assert.equal(pauses.since(0), 0)
  assert.equal(pauses.note(10, 100), 10)
  assert.equal(pauses.note(20, 105), 5)
  assert.equal(pauses.note(10, 205), 10)
  assert.deepEqual(
    [0, 90, 98, 105, 200, 205].map((at) => pauses.since(at)),
    [25, 25, 17, 10, 5, 0],
  )
  for (const odd of [0, -5, Number.NaN]) assert.equal(pauses.note(odd, 300), 0)
  assert.equal(pauses.note(Infinity, 300), 95)
})

test('a pause of the brain does not count as the silence of a worker', () => {
  const trial = new Trial({ limits: beats })
  trial.joins('a')
  trial.reports('a')
  trial.after(1000)
  pause(trial, 60_000)
  assert.deepEqual(ended(trial), [])
  assert.deepEqual(ended(trial.after(1999)), [])
  assert.deepEqual(ended(trial.after(1)), [{ code: 'silent', silentMs: 3000 }])
})

test('many short pauses do not count either, and a worker that stays silent is lost all the same', () => {
  const trial = new Trial({ limits: beats })
  trial.joins('a')
  trial.reports('a')
  let lostAt = 0
  for (let i = 1; i <= 10 && lostAt === 0; i++) {
    trial.after(500)
    pause(trial, 5000)
    if (ended(trial).length > 0) lostAt = i
  }
  assert.equal(lostAt, 6)
})

test('a report that waited while the brain paused is read before anyone is judged', () => {
  const trial = new Trial({ limits: beats })
  trial.joins('a')
  trial.reports('a')
  pause(trial, 10_000)
  trial.reports('a')
  assert.deepEqual(ended(trial), [])
  assert.deepEqual(ended(trial.after(2999)), [])
  assert.equal(ended(trial.after(1)).length, 1)
})

test('pings that were due while the brain paused are not counted as unanswered', () => {
  const pings = { everyMs: 30_000, answerMs: 3000, most: 3, mostFresh: 5 }
  const trial = new Trial({ limits: { pings, beatMs: 1000 } })
  trial.joins('a')
  const until = (at: number) => {
    let reasons = ended(trial)
    for (; trial.now < at; reasons = ended(trial)) trial.after(1000)
    return reasons
  }
  until(30_000)
  trial.answersPings('a')
  until(31_000)
  pause(trial, 600_000)
  assert.deepEqual(ended(trial), [])
  // The ping of 30 s was answered; the next ones are sent at 660, 690 and 720 s.
  assert.deepEqual(until(722_000), [])
  assert.equal(until(723_000)[0]?.unanswered, 3)
})

test('a launch gets as much more time to join', () => {
  const trial = new Trial({ scale: { min: 1, max: 1 }, limits: { bootMs: 5000 } })
  trial.tick()
  pause(trial, 60_000)
  assert.deepEqual(only(trial.tick(), 'abandon'), [])
  assert.deepEqual(only(trial.after(4999).tick(), 'abandon'), [])
  const [given] = only(trial.after(1).tick(), 'abandon')
  assert.deepEqual(given?.reason, { code: 'boot-timeout', bootMs: 5000 })
})

test('an answer, and the sign of life that an overdue one requires, get as much more time', () => {
  const answer = { factor: 2, leastMs: 500, heartbeatMs: 300 }
  const trial = new Trial({ limits: { ...beats, missedBeats: 1e6, answers: answer } })
  trial.joins('a')
  trial.arrives('j')
  pause(trial, 60_000)
  assert.deepEqual(trial.tick(), [{ type: 'wake', at: 62_500 }])
  trial.after(2500).tick()
  pause(trial, 60_000)
  assert.deepEqual(ended(trial), [])
  assert.equal(ended(trial.after(300))[0]?.code, 'heartbeat')
})

test('an attempt that reports do not name yet gets as much more time to arrive', () => {
  const trial = new Trial({ limits: { ...beats, settleMs: 2000 } })
  trial.joins('a')
  trial.reports('a')
  trial.arrives('j')
  pause(trial, 3000)
  // Its worker sent both before the attempt reached it.
  for (let i = 0; i < 2; i++) assert.deepEqual(sent(trial.reports('a')), [])
  trial.after(2000)
  assert.deepEqual(only(trial.reports('a'), 'retry').length, 1)
})

test('a function gets as much more time to answer', () => {
  const overflow = {
    concurrency: 1,
    workPerSecond: 1000,
    patienceMs: 2000,
    rule: 'small' as const,
    mostWork: 1e9,
  }
  const trial = new Trial({ overflow })
  trial.arrives('j', { work: 1 })
  assert.equal(only(trial.history, 'overflow').length, 1)
  pause(trial, 60_000)
  assert.deepEqual(only(trial.tick(), 'retry'), [])
  assert.deepEqual(only(trial.after(1999).tick(), 'retry'), [])
  assert.equal(only(trial.after(60_000).tick(), 'retry').length, 1)
})

test('deadlines of clients and queue timeouts are not extended', () => {
  const trial = new Trial({ limits: { waitMs: 5000 } })
  trial.arrives('due', { deadlineAt: 4000 })
  trial.arrives('waits')
  pause(trial, 10_000)
  assert.deepEqual(answers(trial.tick()), ['due refused deadline', 'waits refused waited'])
})
