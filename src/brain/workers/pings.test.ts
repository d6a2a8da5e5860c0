import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PingRule } from '../limits.ts'
import { only, sent, Trial } from '../testing/trial.ts'

const pings: PingRule = { everyMs: 30_000, answerMs: 3000, most: 3, mostFresh: 5 }

/** A worker that has answered the first ping. */
function pinged(): Trial {
  const trial = new Trial({ limits: { pings, beatMs: 1000 } })
  trial.joins('a')
  trial.answersPings('a')
  return trial
}

/** The losses until then, while the worker reports every second. */
function at(trial: Trial, ms: number) {
  const reasons = []
  while (trial.now < ms && trial.view.ready > 0) {
    trial.after(Math.min(1000, ms - trial.now)).reports('a')
    reasons.push(...only(trial.tick(), 'terminate').map(({ reason }) => reason))
  }
  return reasons
}

test('a worker is pinged when it joins and then at the interval, with growing numbers', () => {
  const trial = pinged()
  for (const ms of [30_000, 60_000, 90_000]) {
    at(trial, ms)
    trial.answersPings('a')
  }
  assert.deepEqual(
    only(trial.history, 'ping').map(({ worker, ping }) => [worker, ping]),
    [
      ['a', 1],
      ['a', 2],
      ['a', 3],
      ['a', 4],
    ],
  )
})

test('a worker that leaves `most` pings in a row unanswered is lost, although it reports', () => {
  const trial = pinged()
  assert.deepEqual(at(trial, 92_999), [])
  assert.deepEqual(at(trial, 93_000), [{ code: 'pings', unanswered: 3, everyMs: 30_000, answerMs: 3000 }])
  assert.deepEqual([trial.view.ready, trial.view.timers], [0, 0])
})

test('an answer in time resets the count', () => {
  const trial = pinged()
  at(trial, 92_000)
  trial.answersPings('a')
  assert.deepEqual(at(trial, 182_999), [])
  assert.equal(at(trial, 183_000).length, 1)
})

test('an answer that comes too late, or belongs to an earlier ping, does not count', () => {
  const trial = pinged()
  for (const ms of [30_000, 60_000, 90_000]) {
    assert.deepEqual(at(trial, ms + 2999), [])
    const { ping } = only(trial.history, 'ping').at(-1)!
    trial.tell({ type: 'pong', worker: 'a', ping: ping - 1 })
    trial.tell({ type: 'pong', worker: 'a', ping: ping + 1 })
    trial.tell({ type: 'pong', worker: 'nobody', ping })
    at(trial, ms + 3000)
    trial.answersPings('a')
  }
  assert.equal(trial.view.ready, 0)
})

test('a worker that has never answered has more time', () => {
  const trial = new Trial({ limits: { pings, beatMs: 1000 } })
  trial.joins('a')
  assert.deepEqual(at(trial, 122_999), [])
  assert.equal(at(trial, 123_000)[0]?.unanswered, 5)
})

test('time in which the brain did not run is not time to answer', () => {
  const trial = pinged()
  at(trial, 90_000)
  trial.after(20_000).tell({ type: 'paused', ms: 20_000 })
  // It was pinged at 90 s and has all of its three seconds left.
  assert.deepEqual(at(trial, 112_999), [])
  assert.equal(at(trial, 113_000).length, 1)
})

test('a `lost` event only makes the worker suspect until its next report', () => {
  const trial = pinged()
  trial.tell({ type: 'lost', worker: 'a' })
  assert.equal(trial.view.ready, 1)
  assert.deepEqual(sent(trial.arrives('j')), [])
  assert.deepEqual(sent(trial.reports('a')), ['j a'])
})
