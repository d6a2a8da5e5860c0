import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FailureKind } from '../../model/attempt.ts'
import { explain } from '../../story/reasons.ts'
import { type BrainLimits, usualOutliers } from '../limits.ts'
import { answers, only, sent, Trial } from '../testing/trial.ts'

const rule = { ...usualOutliers, failures: 3, errors: 4, baseMs: 10_000, mostMs: 25_000 }

/** Workers of one core that do 1,000 units a second. */
function fleetOf(ids: string[], outliers: BrainLimits['outliers'] = rule): Trial {
  // Jobs go to each worker in turn, and run there one at a time.
  const trial = new Trial({
    ...{ scheduler: 'least-connections', discipline: 'srpt' },
    limits: { outliers, beatMs: 1000, missedBeats: 1e9, freshMs: 1e9 },
  })
  for (const id of ids) trial.joins(id)
  return trial
}

let jobs = 0

/** Sends a job of one second; `bad` fails it, and any other worker finishes it. Returns the attempts. */
function serve(trial: Trial, bad: string | undefined, kind: FailureKind = 'crash'): string[] {
  const job = `j${++jobs}`
  trial.arrives(job)
  const went: string[] = []
  while (trial.view.workers.some((worker) => worker.jobs.some((held) => held.job === job))) {
    const { worker } = trial.at(job)
    went.push(worker)
    if (worker === bad) trial.fails(job, kind)
    else trial.after(1000).finishes(job)
    for (const { id, jobs: held } of trial.view.workers)
      trial.reports(
        id,
        held.map((each) => trial.held(each.job)),
      )
    trial.tick()
  }
  return went
}

/** Serves until this many jobs have failed at a worker. */
function failAt(trial: Trial, bad: string, times: number, kind: FailureKind = 'crash'): void {
  for (let failed = 0, tries = 0; failed < times; tries++) {
    assert.ok(tries < 100, `${bad} gets no jobs`)
    failed += serve(trial, bad, kind).filter((id) => id === bad).length
  }
}

/** Serves until this worker has finished a job. */
function finishAt(trial: Trial, id: string): void {
  for (let tries = 0; !serve(trial, undefined).includes(id); tries++)
    assert.ok(tries < 100, `${id} gets no jobs`)
}

const ejected = (trial: Trial) =>
  trial.view.workers.filter(({ notice }) => notice).map(({ id, notice }) => `${id} ${notice!.code}`)

for (const kind of ['crash', 'killed', 'unready', 'unreachable', 'refused'] as const) {
  test(`a worker that fails jobs (${kind}) which others finish is ejected, and gets no more`, () => {
    const trial = fleetOf(['a', 'b', 'c'])
    failAt(trial, 'a', 2, kind)
    assert.deepEqual(ejected(trial), [])
    failAt(trial, 'a', 1, kind)
    assert.deepEqual(ejected(trial), ['a failing'])
    const went = Array.from({ length: 5 }, () => serve(trial, 'a')).flat()
    assert.equal(went.includes('a'), false)
  })
}

test('an ejection says why, for how long, and ends by itself', () => {
  const trial = fleetOf(['a', 'b'])
  failAt(trial, 'a', 3)
  const [action] = only(trial.history, 'eject')
  assert.deepEqual(action?.reason, { code: 'failing', failures: 3, ms: 10_000, ejections: 1 })
  assert.match(
    explain(action.reason),
    /^3 attempts in a row failed there, and their jobs were finished elsewhere$/,
  )
  const until = trial.now + 10_000
  trial.now = until - 1
  trial.tick()
  assert.deepEqual(ejected(trial), ['a failing'])
  trial.now = until
  const [back] = only(trial.tick(), 'readmit')
  assert.equal(explain(back!.reason), 'its ejection of 10 s is over')
  assert.deepEqual(ejected(trial), [])
})

test('each ejection takes longer, up to a limit; good times shorten the next', () => {
  const trial = fleetOf(['a', 'b'])
  const lengths = () => only(trial.history, 'eject').map(({ reason }) => reason.ms)
  for (let i = 0; i < 4; i++) {
    failAt(trial, 'a', 3)
    trial.after(Number(lengths().at(-1))).tick()
  }
  assert.deepEqual(lengths(), [10_000, 20_000, 25_000, 25_000])
  trial.after(40_000)
  failAt(trial, 'a', 3)
  assert.equal(lengths().at(-1), 10_000)
})

test('one good answer in between starts the count again', () => {
  const trial = fleetOf(['a', 'b'])
  for (let i = 0; i < 10; i++) {
    failAt(trial, 'a', 2)
    finishAt(trial, 'a')
  }
  assert.deepEqual(ejected(trial), [])
})

test('jobs that crash everywhere accuse nobody', () => {
  const trial = fleetOf(['a', 'b', 'c', 'd'])
  for (let i = 0; i < 20; i++) {
    const job = `poison${i}`
    trial.arrives(job)
    for (let crashes = 0; crashes < 3; crashes++) trial.fails(job, 'crash')
  }
  assert.equal(answers(trial.history).filter((text) => text.endsWith('poison')).length, 20)
  assert.deepEqual(ejected(trial), [])
})

test('a worker that answers everything with errors is ejected if the others give results', () => {
  const trial = fleetOf(['a', 'b', 'c'])
  for (const id of ['b', 'c']) finishAt(trial, id)
  failAt(trial, 'a', 4, 'error')
  assert.deepEqual(ejected(trial), ['a erring'])
})

test('errors of all workers accuse nobody', () => {
  const trial = fleetOf(['a', 'b', 'c'])
  for (let i = 0; i < 60; i++) {
    const job = `bad${i}`
    trial.arrives(job)
    trial.after(10).fails(job, 'error')
  }
  assert.deepEqual(ejected(trial), [])
})

test('errors accuse nobody while no other worker gives results', () => {
  const trial = fleetOf(['a', 'b', 'c'])
  // A client whose requests all fail reaches the only worker that is free.
  for (const busy of ['long', 'longer']) trial.arrives(busy, { work: 1_000_000 })
  const free = trial.view.workers.find((worker) => worker.jobs.length === 0)!.id
  for (let i = 0; i < 20; i++) {
    const job = `hostile${i}`
    trial.arrives(job)
    assert.equal(trial.at(job).worker, free)
    trial.after(10).fails(job, 'error')
  }
  assert.deepEqual(ejected(trial), [])
})

test('requests that the workload refuses, or that were never sent, accuse nobody', () => {
  const trial = fleetOf(['a', 'b', 'c'])
  for (let i = 0; i < 60; i++) {
    const job = `refused${i}`
    trial.arrives(job)
    const { worker } = trial.at(job)
    if (worker === 'a') trial.tell({ type: 'failed', kind: 'error', blameless: true, ...trial.at(job) })
    else trial.after(10).finishes(job)
  }
  assert.deepEqual(ejected(trial), [])
})

/** Serves jobs of one second one after the other; worker `a` takes `times` as long. */
function serveSlowly(trial: Trial, times: number, count: number, estimate = 1): void {
  for (let i = 0; i < count; i++) {
    const job = `s${++jobs}`
    trial.arrives(job, { work: 1000 * estimate })
    const { worker } = trial.at(job)
    trial.after(worker === 'a' ? 1000 * times : 1000).finishes(job)
  }
}

test('a worker whose jobs take far longer than those of the others is ejected', () => {
  const trial = fleetOf(['a', 'b', 'c'])
  serveSlowly(trial, 10, 40)
  assert.deepEqual(ejected(trial), ['a slow'])
  const [action] = only(trial.history, 'eject')
  assert.match(
    explain(action!.reason),
    /^its jobs take (9|10)(\.\d+)? times as long as those of other workers$/,
  )
})

test('a worker that is a little slower than the others stays', () => {
  const trial = fleetOf(['a', 'b', 'c'])
  serveSlowly(trial, 2, 200)
  assert.deepEqual(ejected(trial), [])
})

test('wrong estimates are the same for all workers', () => {
  const trial = fleetOf(['a', 'b', 'c'])
  serveSlowly(trial, 1, 200, 0.05)
  assert.deepEqual(ejected(trial), [])
})

test('at most half of the workers are ejected, and the only worker never is', () => {
  const trial = fleetOf(['a', 'b', 'c'])
  failAt(trial, 'a', 3)
  failAt(trial, 'b', 5)
  assert.deepEqual(ejected(trial), ['a failing'])
  const alone = fleetOf(['a'])
  for (let i = 0; i < 20; i++) {
    const job = `alone${i}`
    alone.arrives(job)
    alone.fails(job, 'crash')
    alone.after(1000).finishes(job)
  }
  assert.deepEqual(ejected(alone), [])
})

test('an ejected worker returns at once if the fleet becomes too small without it', () => {
  const trial = fleetOf(['a', 'b'])
  failAt(trial, 'a', 3)
  assert.deepEqual(ejected(trial), ['a failing'])
  const actions = trial.tell({ type: 'lost', worker: 'b' })
  assert.equal(only(actions, 'readmit')[0]?.reason.code, 'too-many-ejected')
  assert.deepEqual(sent(trial.arrives('next')), ['next a'])
})

test('a job that failed at the only available worker is tried there again', () => {
  const trial = fleetOf(['a', 'b'])
  failAt(trial, 'a', 3)
  trial.arrives('k')
  assert.equal(trial.at('k').worker, 'b')
  assert.deepEqual(sent(trial.fails('k', 'crash')), ['k b'])
})

test('jobs that an ejected worker holds are finished there', () => {
  const trial = fleetOf(['a', 'b'])
  for (const job of ['long', 'longer']) trial.arrives(job, { work: 1_000_000 })
  const holder = trial.at('long').worker
  failAt(trial, holder, 3)
  assert.deepEqual(ejected(trial), [`${holder} failing`])
  assert.deepEqual(only(trial.history, 'cancel'), [])
  assert.deepEqual(answers(trial.finishes('long')), ['long result finished'])
})

test('a worker that drains or is lost leaves no timer of its ejection behind', () => {
  for (const type of ['drain', 'lost'] as const) {
    const trial = fleetOf(['a', 'b', 'c', 'd'])
    const before = trial.view.timers
    failAt(trial, 'a', 3)
    trial.tell({ type, worker: 'a' })
    assert.ok(trial.view.timers <= before, type)
    assert.deepEqual(only(trial.after(60_000).tick(), 'readmit'), [])
  }
})

test('without the rule nobody is ejected', () => {
  const trial = fleetOf(['a', 'b'], null)
  failAt(trial, 'a', 20)
  serveSlowly(trial, 10, 40)
  assert.deepEqual(ejected(trial), [])
})
