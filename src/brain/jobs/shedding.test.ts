import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ContractError } from '../../lib/errors.ts'
import { explain } from '../../story/reasons.ts'
import type { BrainSpec } from '../../systems/brain-spec.ts'
import { answers, only, Trial } from '../testing/trial.ts'

let count = 0

/** Serves one job to its end. */
function serve(trial: Trial, client: string, work: number): void {
  const job = `served${++count}`
  trial.arrives(job, { client, work })
  trial.tell({ type: 'finished', work, ...trial.at(job) })
}

/** A cluster after a minute in which `greedy` had a hundred times the work of `modest`, which also has works of 1 to 100. */
function afterMinute(spec: Partial<BrainSpec> = {}): Trial {
  const trial = new Trial(spec)
  for (const worker of ['v', 'w']) trial.joins(worker)
  for (let i = 0; i < 120; i++) {
    const work = 1 + (i % 100)
    serve(trial, 'greedy', work * 100)
    serve(trial, 'modest', work)
    trial.after(500).tick()
  }
  return trial
}

/** Whether this job is shed when it arrives. */
function isShed(trial: Trial, client: string, work: number, pressure?: number): boolean {
  const job = `asked${++count}`
  const shed = answers(trial.arrives(job, { client, work }, pressure))
  assert.ok(shed.length === 0 || shed[0] === `${job} refused overloaded`, `${shed}`)
  return shed.length > 0
}

for (const fair of [false, true]) {
  const spec: Partial<BrainSpec> = { scheduler: 'srpt', fair }
  const after = (client: string, work: number, pressure?: number) =>
    isShed(afterMinute(spec), client, work, pressure)
  const where = fair ? 'in a fair cluster' : 'in a cluster that is not fair'

  test(`nothing is shed without pressure, ${where}`, () => {
    assert.equal(after('greedy', 1e9), false)
    assert.equal(after('greedy', 1e9, 0), false)
  })

  test(`under light pressure only expensive jobs of clients above their share are shed, ${where}`, () => {
    assert.equal(after('greedy', 1e9, 0.2), true)
    assert.equal(after('greedy', 1, 0.2), false)
    assert.equal(after('modest', 1e9, 0.2), false)
    assert.equal(after('unknown', 1e9, 0.2), false)
  })

  test(`under heavy pressure all jobs of clients above their share are shed, and expensive ones of others, ${where}`, () => {
    assert.equal(after('greedy', 1, 0.7), true)
    assert.equal(after('unknown', 1e9, 0.7), true)
    assert.equal(after('unknown', 0.5, 0.7), false)
  })

  test(`under full pressure everything is shed, ${where}`, () => {
    for (const client of ['greedy', 'modest', 'unknown']) assert.equal(after(client, 1, 1), true)
  })
}

test('what a client has in the queue counts as its share, even if nothing of it has run', () => {
  const trial = new Trial()
  for (let i = 0; i < 100; i++) trial.arrives(`flood${i}`, { client: 'flood', work: 10 })
  for (const client of ['one', 'two']) trial.arrives(client, { client, work: 10 })
  assert.equal(isShed(trial, 'one', 10, 0.5), false)
  assert.equal(isShed(trial, 'flood', 10, 0.5), true)
})

test('a client that floods between two sums of the shares is above its share at once', () => {
  const trial = new Trial()
  for (const client of ['one', 'two']) trial.arrives(client, { client, work: 1000 })
  assert.equal(isShed(trial, 'flood', 1000, 0.45), false)
  for (let i = 0; i < 10; i++) trial.arrives(`flood${i}`, { client: 'flood', work: 1000 })
  assert.equal(isShed(trial, 'flood', 1001, 0.45), true)
})

test('of equal jobs of a single client, as many are shed as the pressure demands', () => {
  const trial = new Trial()
  for (let i = 0; i < 300; i++) trial.after(1).arrives(`before${i}`, { client: 'only', work: 5 })
  let shed = 0
  for (let i = 0; i < 1000; i++) if (isShed(trial.after(1), 'only', 5, 0.1)) shed++
  assert.ok(shed >= 190 && shed <= 210, `${shed} of 1,000`)
})

test('a shed job is refused with the numbers of the decision, and leaves nothing behind', () => {
  const trial = afterMinute({ scheduler: 'srpt', rateLimit: { workPerMinute: 1e9 } })
  const before = trial.view
  const [refused] = only(trial.arrives('big', { client: 'greedy', work: 1e9 }, 0.25), 'answer')
  const { percent, retryAfterMs, ...facts } = refused!.reason
  assert.deepEqual(facts, {
    code: 'overloaded',
    pressurePercent: 25,
    shedPercent: 50,
    work: 1e9,
    client: 'greedy',
    clients: 2,
  })
  assert.ok(Number(percent) >= 98 && Number(percent) <= 100)
  assert.ok(Number(retryAfterMs) > 0)
  assert.match(
    explain(refused!.reason),
    /^the cluster is overloaded \(pressure 25 %\) and sheds the most expensive 50 % of such requests; this one needs about 1,000,000,000 units of work, and client greedy has 99 % of the recent work of 2 clients$/,
  )
  const { jobs, timers, counters } = trial.view
  assert.deepEqual(
    [jobs, timers, counters.refused],
    [before.jobs, before.timers, before.counters.refused + 1],
  )
  assert.equal(trial.view.leftBehind(), undefined)
})

test('a shed job does not count against the rate limit of its client', () => {
  const trial = new Trial({ rateLimit: { workPerMinute: 60, burst: 1000 } })
  assert.deepEqual(answers(trial.arrives('shed', { work: 1000 }, 1)), ['shed refused overloaded'])
  assert.deepEqual(answers(trial.arrives('next', { work: 1000 })), [])
})

test('clients are forgotten in a cluster that is not fair, too', () => {
  const trial = new Trial()
  for (let i = 0; i < 100; i++) {
    trial.arrives(`j${i}`, { client: `client ${i}` })
    trial.tell({ type: 'cancelled', job: `j${i}` })
  }
  trial.after(31_000).arrives('later', { client: 'new' })
  trial.after(31_000).arrives('last', { client: 'newer' })
  const [refused] = only(trial.arrives('shed', { client: 'newest' }, 1), 'answer')
  assert.equal(refused?.reason.clients, 2)
})

test('impossible pressures are rejected', () => {
  for (const pressure of [-0.1, 1.1, Number.NaN]) {
    assert.throws(
      () => new Trial().arrives('j', {}, pressure),
      new ContractError(`job j: pressure = ${pressure}: must be a number from 0 to 1`),
    )
  }
})
