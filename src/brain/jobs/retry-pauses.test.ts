import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Action } from '../../model/action.ts'
import { explain } from '../../story/reasons.ts'
import { usualRetryPauses } from '../limits.ts'
import { answers, only, sent, Trial } from '../testing/trial.ts'
import { RetryBudget } from './retry-budget.ts'

/** Retries may make up a fifth of the admitted work, or 5 s of a core. */
const rule = { ...usualRetryPauses, leastMs: 5000, mostMs: 5000, halfMs: 10_000 }

function fleetOf(ids: string[], seed = 1, retryPauses: typeof rule | null = rule): Trial {
  const limits = { retryPauses, crashes: 100, losses: 100, attempts: 100 }
  const trial = new Trial({ scheduler: 'srpt', discipline: 'srpt', seed, limits })
  for (const id of ids) trial.joins(id, { cores: 4 })
  return trial
}

/** Lets time pass, timer by timer, until no more than `ms` later. */
function pass(trial: Trial, ms: number): Action[] {
  const until = trial.now + ms
  const actions: Action[] = []
  for (;;) {
    const wake = only(trial.history, 'wake').at(-1)
    if (!wake || wake.at > until || wake.at <= trial.now) break
    actions.push(...trial.after(wake.at - trial.now).tick())
  }
  actions.push(...trial.after(until - trial.now).tick())
  return actions
}

const waits = (actions: readonly Action[]) =>
  only(actions, 'wait').map(({ job, reason }) => `${job} ${reason.code}`)

/** The pauses before the retries of a job whose attempts all fail. */
function pausesOf(trial: Trial, times: number): number[] {
  trial.arrives('j', { work: 1 })
  return Array.from({ length: times }, () => {
    const actions = trial.fails('j', 'crash')
    const ms = Number(only(actions, 'wait')[0]?.reason.ms ?? 0)
    if (ms > 0) assert.deepEqual(sent(pass(trial, ms + 1)).length, 1)
    return ms
  })
}

test('the first retry comes at once; the pauses before further ones double, up to a limit', () => {
  const [first, ...others] = pausesOf(fleetOf(['a', 'b']), 12)
  assert.equal(first, 0)
  for (const [i, ms] of others.entries()) {
    const fullMs = Math.min(10_000, 100 * 2 ** i)
    assert.ok(ms >= fullMs / 2 && ms <= fullMs, `pause ${i} is ${ms} ms`)
  }
})

test('pauses are spread, and the same seed draws the same', () => {
  const pauses = (seed: number) => pausesOf(fleetOf(['a', 'b'], seed), 5)
  assert.deepEqual(pauses(1), pauses(1))
  assert.notDeepEqual(pauses(1), pauses(2))
})

test('without the rule, all retries come at once', () => {
  assert.deepEqual(pausesOf(fleetOf(['a', 'b'], 1, null), 5), [0, 0, 0, 0, 0])
})

test('no worker takes a job during its pause, and other jobs pass it', () => {
  const trial = fleetOf(['a'])
  trial.arrives('j', { work: 1 })
  trial.fails('j', 'crash')
  const actions = trial.fails('j', 'crash')
  assert.deepEqual(waits(actions), ['j retry-pause'])
  assert.match(
    explain(only(actions, 'wait')[0]!.reason),
    /^1 retry did not help, so the next one pauses for \d/,
  )
  assert.equal(trial.view.idleBeside(), undefined)
  assert.deepEqual(sent(trial.arrives('other')), ['other a'])
  assert.deepEqual(sent(trial.joins('b')), [])
  assert.deepEqual(sent(pass(trial, 100)), ['j b'])
})

test('a job may be cancelled during its pause', () => {
  const trial = fleetOf(['a'])
  trial.arrives('j')
  trial.fails('j', 'crash')
  trial.fails('j', 'crash')
  trial.tell({ type: 'cancelled', job: 'j' })
  assert.deepEqual(sent(pass(trial, 1000)), [])
  assert.deepEqual([trial.view.jobs, trial.view.leftBehind()], [0, undefined])
})

/** Jobs of 5 s of a core each, whose attempts fail shortly before their end. */
function failAll(trial: Trial, count: number): Action[] {
  const jobs = Array.from({ length: count }, (_, i) => `j${i + 1}`)
  for (const job of jobs) trial.arrives(job, { work: 5000 })
  pass(trial, 4999)
  return jobs.flatMap((job) => trial.fails(job, 'crash'))
}

test('retries wait while they have used up their budget, and go on when it is free again', () => {
  const trial = fleetOf(['a', 'b', 'c'])
  const actions = failAll(trial, 10)
  // Of 50 s a fifth, and 5 s in any case: the third retry uses them up.
  assert.deepEqual(
    sent(actions).map((text) => text.split(' ')[0]),
    ['j1', 'j2', 'j3'],
  )
  assert.deepEqual(
    waits(actions),
    [4, 5, 6, 7, 8, 9, 10].map((i) => `j${i} retry-budget`),
  )
  assert.equal(explain(only(actions, 'wait')[0]!.reason), 'retries have used up 20 % of the admitted work')
  assert.deepEqual(sent(pass(trial, 7000)), ['j4 c'])
  assert.deepEqual(sent(pass(trial, 9000)), [])
  assert.equal(sent(pass(trial, 600_000)).length, 6)
  assert.deepEqual(answers(trial.history), [])
})

test('retries of jobs that fail as soon as they start do not use up the budget', () => {
  const trial = fleetOf(['a', 'b', 'c'])
  const jobs = Array.from({ length: 10 }, (_, i) => `j${i + 1}`)
  for (const job of jobs) trial.arrives(job, { work: 3_600_000 })
  const actions = jobs.flatMap((job) => trial.fails(job, 'crash'))
  assert.equal(sent(actions).length, 10)
})

test('newly admitted work makes room for retries', () => {
  const trial = fleetOf(['a', 'b', 'c'])
  failAll(trial, 10)
  for (let i = 0; i < 4; i++) trial.arrives(`new${i}`, { work: 5000 })
  assert.deepEqual(sent(trial.tick()), ['j4 b'])
})

test('the shortest of the waiting retries goes first', () => {
  const trial = fleetOf(['a', 'b', 'c'])
  failAll(trial, 10)
  trial.arrives('short', { work: 10 })
  assert.deepEqual(waits(trial.fails('short', 'crash')), ['short retry-budget'])
  assert.match(sent(pass(trial, 600_000))[0]!, /^short /)
})

test('the first retry after the loss of a worker does not wait, whatever the budget', () => {
  const trial = fleetOf(['a', 'b', 'c'])
  failAll(trial, 10)
  trial.arrives('late', { work: 10 })
  const actions = trial.tell({ type: 'lost', worker: trial.at('late').worker })
  assert.equal(sent(actions).filter((text) => text.startsWith('late ')).length, 1)
})

test('a single retry is always possible, however long the job and however idle the cluster', () => {
  const trial = fleetOf(['a', 'b'])
  trial.arrives('j', { work: 3_600_000 })
  pass(trial, 1_000_000)
  assert.equal(sent(trial.fails('j', 'crash')).length, 1)
})

test('the time at which the budget is free is when it is, with nothing admitted meanwhile', () => {
  const budget = new RetryBudget(rule)
  for (let i = 0; i < 100; i++) budget.admit(1000, 0)
  assert.equal(budget.freeAt(0), 0)
  // 20 s are a fifth.
  for (let i = 0; i < 24; i++) budget.spend(1000, 0)
  assert.equal(budget.freeAt(0), 0)
  for (let i = 0; i < 6; i++) budget.spend(1000, 0)
  const at = budget.freeAt(0)
  assert.ok(at > 0)
  assert.ok(budget.freeAt(at - 10) > at - 10)
  assert.equal(budget.freeAt(at), at)
})
