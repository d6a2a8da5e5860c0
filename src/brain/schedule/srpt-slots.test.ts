/** The start of a slot counts when a job could preempt another. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { only, sent, Trial } from '../testing/trial.ts'

/** One worker that runs `long`, whose other slots are not started yet. */
function busy(left: number, ready = 1): Trial {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a')
  trial.arrives('long', { work: left })
  trial.reportsSlots('a', { ready, startMs: 100 }, [trial.held('long')])
  return trial
}

test('a job preempts only one that has more left than the job and the start of its slot', () => {
  assert.deepEqual(sent(busy(160).arrives('short', { work: 50 })), ['short a'])
  assert.deepEqual(sent(busy(149).arrives('short', { work: 50 })), [])
})

test('a slot that is ready costs nothing', () => {
  const [run] = only(busy(149, 2).arrives('short', { work: 50 }), 'run')
  assert.deepEqual(run!.reason, { code: 'shorter', needMs: 50, leftMs: 149, preempts: 'long' })
})

test('the reason names the start', () => {
  const [run] = only(busy(5000).arrives('short', { work: 50 }), 'run')
  assert.deepEqual(run!.reason, { code: 'shorter', needMs: 50, startMs: 100, leftMs: 5000, preempts: 'long' })
})

test('a job waits for a core that is free before a slot would have started, also with one worker', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a', { cores: 2 })
  trial.arrives('brief', { work: 90 })
  trial.arrives('long', { work: 9000 })
  trial.reportsSlots('a', { ready: 2, startMs: 100 }, [trial.held('brief'), trial.held('long')])
  const [wait] = only(trial.arrives('short', { work: 50 }), 'wait')
  const reason = { code: 'core-soon', freeMs: 90, needMs: 50, startMs: 100, insteadOf: 'long' }
  assert.deepEqual(wait!.reason, reason)
  // The slot of the job that ends is ready.
  assert.deepEqual(sent(trial.after(90).finishes('brief')), ['short a'])
})

test('it preempts after all when that core is still busy then', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('a', { cores: 2 })
  trial.arrives('brief', { work: 95 })
  trial.arrives('long', { work: 9000 })
  trial.reportsSlots('a', { ready: 2, startMs: 100 }, [trial.held('brief'), trial.held('long')])
  assert.deepEqual(sent(trial.arrives('short', { work: 50 })), [])
  assert.deepEqual(sent(trial.after(99).tick()), [])
  assert.deepEqual(sent(trial.after(1).tick()), ['short a'])
})

test('numbers that make no sense are ignored', () => {
  for (const [ready, startMs] of [
    [Number.NaN, 100],
    [-1, 100],
    [1, Number.POSITIVE_INFINITY],
    [1, -5],
  ] as const) {
    const trial = busy(149)
    trial.reportsSlots('a', { ready, startMs }, [trial.held('long')])
    assert.deepEqual(sent(trial.arrives('short', { work: 50 })), ['short a'])
  }
})
