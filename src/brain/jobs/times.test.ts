/** Jobs whose learned speed differs from the rate that workers announce, here 1,000 units per second. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answers, only, sent, Trial } from '../testing/trial.ts'
import { toldMs } from './retry-after.ts'
import { msOf, nominalWork } from './times.ts'

const fast = { expected: 8, high: 10 }

test('without a learned speed, work is done at the announced rate', () => {
  const job = { id: 'a', workload: 'w', work: 3000, memoryMb: 1 }
  assert.deepEqual([msOf(job, 500, 1000), nominalWork(job), nominalWork(job, 7)], [500, 3000, 7])
  assert.deepEqual(
    [msOf({ ...job, speed: fast }, 800, 1000), nominalWork({ ...job, speed: fast })],
    [100, 375],
  )
})

test('reasons tell times at the learned speed', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('w1')
  trial.arrives('long', { work: 16_000, high: 17_000, speed: fast })
  const [run] = only(trial.after(100).arrives('short', { work: 800, speed: fast }), 'run')
  assert.equal(run!.reason.needMs, 100)
  const [pause] = only(trial.history, 'pause')
  assert.deepEqual([pause!.reason.needMs, Number(pause!.reason.leftMs) < 2200], [100, true])
  trial.finishes('short')
  const [revise] = only(trial.progresses('long', 24_000), 'revise')
  assert.equal(revise!.reason.doneMs, 3000)
  assert.ok(Number(revise!.reason.wasMs) < 2200, `${revise!.reason.wasMs}`)
})

test('a turn is as long as intended at the learned speed', () => {
  const until = (speed?: typeof fast) => {
    const trial = new Trial({ scheduler: 'srpt', limits: { mostSlowdown: 10, turnMs: 100 } })
    trial.joins('w1')
    trial.arrives('first', { work: 100_000 })
    trial.arrives('second', { work: 200_000, ...(speed && { speed }) })
    for (let i = 0; i < 200; i++) {
      const precedence = only(trial.after(50).tick(), 'run').map((run) => run.precedence!.until)
      if (precedence.length > 0) return precedence[0]!
    }
    return assert.fail('no turn')
  }
  assert.equal(until(fast), 8 * until())
})

test('an answer limit follows the learned speed', () => {
  const limits = { answers: { factor: 2, leastMs: 500 } }
  const limitOf = (speed?: typeof fast) => {
    const trial = new Trial({ limits })
    trial.joins('w1')
    trial.arrives('a', { work: 8000, ...(speed && { speed }) })
    return only(trial.history, 'wake').at(-1)!.at
  }
  assert.deepEqual([limitOf(), limitOf(fast)], [500 + 2 * 8000, 500 + 2 * 1000])
})

test('the backlog counts by the learned speeds where a rejection says when to come back', () => {
  const trial = new Trial({ discipline: 'fifo', limits: { queue: 0 } })
  trial.joins('w', { slots: 1 })
  trial.arrives('running', { work: 32_000, speed: fast })
  const [refused] = only(trial.arrives('late'), 'answer')
  assert.equal(refused!.reason.retryAfterMs, toldMs(4000, 2))
})

test('the fleet is scaled by times at the learned speeds', () => {
  const target = (speed?: typeof fast) => {
    const trial = new Trial({ scheduler: 'srpt', scale: { policy: 'work-forecast', min: 1, max: 50 } })
    const [launch] = only(trial.tick(), 'launch')
    trial.after(100).joins('w1', {}, { launch: launch!.launch, bootMs: 100 })
    let launches = 0
    for (let i = 0; i < 40; i++) trial.arrives(`j${i}`, { work: 8000, ...(speed && { speed }) })
    for (let i = 0; i < 200; i++) launches += only(trial.after(50).tick(), 'launch').length
    return launches
  }
  const [nominal, learned] = [target(), target(fast)]
  assert.ok(learned < nominal / 2, `${learned} of ${nominal}`)
})

test('jobs of an earlier deadline count by their own speeds', () => {
  const trial = new Trial({ scheduler: 'srpt', limits: { mostSlowdown: 0 } })
  trial.joins('w1')
  const large = { work: 16_000, low: 12_000, high: 20_000 }
  assert.deepEqual(sent(trial.arrives('fast', { ...large, speed: fast, deadlineAt: 3000 })), ['fast w1'])
  assert.deepEqual(answers(trial.arrives('slow', { ...large, deadlineAt: 13_000 })), [
    'slow refused no-time-for-all',
  ])
})
