/** After which time rejected requests are told to come back, by the reason. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Action } from '../../model/action.ts'
import { answers, only, Trial } from '../testing/trial.ts'
import { toldMs } from './retry-after.ts'

/** The wait of the only job that these actions reject. */
function retryAfterMs(actions: readonly Action[]): number | undefined {
  const [refused, ...others] = only(actions, 'answer')
  assert.equal(others.length, 0)
  return refused!.reason.retryAfterMs as number | undefined
}

/** Rings as the driver would, until this time. */
function ticksUntil(trial: Trial, until: number): Action[] {
  const actions: Action[] = []
  while (trial.now < until) actions.push(...trial.after(50).tick())
  return actions
}

/** One worker of 1,000 units per second that takes one job at a time. */
function full(queue: number, work = 4000): Trial {
  const trial = new Trial({ discipline: 'fifo', limits: { queue } })
  trial.joins('w', { slots: 1 })
  for (let i = 0; i <= queue; i++) trial.arrives(`j${i}`, { work })
  return trial
}

test('a full queue has room when the running job is expected to end', () => {
  const trial = full(1).after(1000)
  assert.equal(retryAfterMs(trial.arrives('late', { work: 500 })), toldMs(3000, 3))
})

test('each request that a full queue rejects is told a later time than the one before', () => {
  const trial = full(4)
  const waits = [0, 1, 2].map((i) => retryAfterMs(trial.arrives(`late${i}`, { work: 2000 })))
  assert.deepEqual(waits, [toldMs(4000, 6), toldMs(6000, 7), toldMs(8000, 8)])
  // Nobody waits for longer than the whole queue.
  for (let i = 3; i < 50; i++) trial.arrives(`late${i}`, { work: 2000 })
  assert.ok(retryAfterMs(trial.arrives('last'))! <= 1.25 * (4000 + 18_000))
})

test('workers that are booting count from the time when they are expected to join', () => {
  const trial = new Trial({ scale: { policy: 'fixed', min: 2, max: 2 }, limits: { queue: 0 } })
  const [first, second] = only(trial.tick(), 'launch')
  trial.after(10_000).joins('w1', { slots: 1 }, { launch: first!.launch })
  trial.arrives('j1', { work: 60_000 })
  // The other one is overdue: 60 s of work are done 2.5 s from now by one worker, and the rest by two.
  assert.equal(retryAfterMs(trial.arrives('late')), toldMs(2500 + 57_500 / 2, 2))
  trial.joins('w2', { slots: 1 }, { launch: second!.launch })
})

test('without any worker a rejected request comes back when the first one has booted', () => {
  const trial = new Trial({ limits: { queue: 0 } })
  const guessed = retryAfterMs(trial.arrives('early'))!
  assert.deepEqual([guessed >= 10_000, guessed <= 12_500], [true, true])
})

test('a job that waited too long comes back when the queue can be served within the limit', () => {
  const trial = new Trial({ limits: { waitMs: 2000 } })
  trial.joins('w', { slots: 1 })
  trial.arrives('long', { work: 60_000 })
  trial.arrives('j1', { work: 5000 })
  const actions = ticksUntil(trial, 2100)
  assert.deepEqual(answers(actions), ['j1 refused waited'])
  assert.equal(retryAfterMs(actions), toldMs(3000, 2))
})

test('a shed job comes back when the part of the backlog is done that the pressure asks for', () => {
  const trial = new Trial()
  trial.joins('w', { slots: 1 })
  trial.arrives('j1', { work: 20_000 })
  assert.equal(retryAfterMs(trial.arrives('shed', { work: 20_000 }, 0.5)), toldMs(20_000, 2))
})

test('a job whose own deadline was too short is not told to come back', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  trial.joins('w')
  const hopeless = trial.arrives('hopeless', { work: 5000, low: 4000, deadlineAt: 1000 })
  assert.deepEqual([answers(hopeless), retryAfterMs(hopeless)], [['hopeless refused no-time'], undefined])
  trial.arrives('slow', { work: 500, deadlineAt: 1000 })
  const late = ticksUntil(trial, 1100)
  assert.deepEqual([answers(late), retryAfterMs(late)], [['slow refused deadline'], undefined])
})

test('of a burst, clients that come back when they are told are soon accepted, and the fleet is never idle', () => {
  const triesWith = (waitOf: (told: number) => number) => {
    const trial = new Trial({ discipline: 'fifo', limits: { queue: 10 } })
    for (const worker of ['a', 'b']) trial.joins(worker, { slots: 1 })
    const due: { at: number; does: () => Action[] }[] = []
    let tries = 0
    const send = (client: number) => {
      const actions = trial.arrives(`${client}-${++tries}`, { work: 1000 })
      for (const { reason } of only(actions, 'answer'))
        due.push({ at: trial.now + waitOf(Number(reason.retryAfterMs)), does: () => send(client) })
      return actions
    }
    const note = (actions: readonly Action[]) => {
      for (const { job } of only(actions, 'run'))
        due.push({ at: trial.now + 1000, does: () => trial.finishes(job) })
    }
    for (let client = 0; client < 100; client++) note(send(client))
    while (due.length > 0) {
      due.sort((a, b) => a.at - b.at)
      const next = due.shift()!
      trial.after(next.at - trial.now)
      note(next.does())
    }
    return { tries: tries / 100, ms: trial.now }
  }
  const told = triesWith((ms) => Math.max(1000, Math.ceil(ms / 1000) * 1000))
  const constant = triesWith(() => 1000)
  assert.ok(told.tries < 6, `${told.tries} tries`)
  assert.ok(constant.tries > 20, `${constant.tries} tries after a second each`)
  // 100 s of work on two cores.
  assert.ok(told.ms < 57_000, `${told.ms} ms`)
})

test('the same events lead to the same waits', () => {
  const waits = () => {
    const trial = full(3)
    return [1, 2, 3].map((i) => retryAfterMs(trial.after(i).arrives(`late${i}`)))
  }
  assert.deepEqual(waits(), waits())
})
