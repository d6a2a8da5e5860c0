import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PingRule } from '../limits.ts'
import { only, sent, Trial } from '../testing/trial.ts'

const pings: PingRule = { everyMs: 30_000, answerMs: 3000, most: 3, mostFresh: 5 }

function pinged(): Trial {
  const trial = new Trial({ limits: { pings, beatMs: 1000 } })
  trial.joins('a')
  trial.reports('a')
  return trial
}

const ended = (trial: Trial) => only(trial.tick(), 'terminate').map(({ reason }) => reason)

test('a worker that leaves `most` pings in a row unanswered is lost', () => {
  const trial = pinged()
  for (const at of [33_000, 63_000]) {
    trial.now = at
    assert.deepEqual(ended(trial), [], `${at}`)
  }
  trial.now = 92_999
  assert.deepEqual(ended(trial), [])
  trial.now = 93_000
  assert.deepEqual(ended(trial), [{ code: 'pings', unanswered: 3, everyMs: 30_000, answerMs: 3000 }])
  assert.equal(trial.view.ready, 0)
})

test('an answer in time resets the count', () => {
  const trial = pinged()
  for (const at of [33_000, 63_000]) {
    trial.now = at
    trial.tick()
  }
  // The third ping goes out at 90 s.
  trial.now = 92_000
  trial.reports('a')
  for (const at of [93_000, 123_000, 153_000]) {
    trial.now = at
    assert.deepEqual(ended(trial), [], `${at}`)
  }
  trial.now = 183_000
  assert.equal(ended(trial).length, 1)
})

test('a report before a ping does not answer it', () => {
  const trial = pinged()
  for (const at of [29_999, 59_999, 89_999]) {
    trial.now = at
    trial.reports('a')
    trial.now = at + 3001
    trial.tick()
  }
  assert.equal(trial.view.ready, 0)
})

test('a worker that has never answered has more time', () => {
  const trial = new Trial({ limits: { pings, beatMs: 1000 } })
  trial.joins('a')
  for (const at of [33_000, 63_000, 93_000, 123_000]) {
    trial.now = at
    assert.deepEqual(ended(trial), [], `${at}`)
  }
  trial.now = 153_000
  assert.equal(ended(trial)[0]?.unanswered, 5)
})

test('a `lost` event only makes the worker suspect until its next report', () => {
  const trial = pinged()
  trial.tell({ type: 'lost', worker: 'a' })
  assert.equal(trial.view.ready, 1)
  assert.deepEqual(sent(trial.arrives('j')), [])
  assert.deepEqual(sent(trial.reports('a')), ['j a'])
})
