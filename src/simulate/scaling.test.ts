import assert from 'node:assert/strict'
import { test } from 'node:test'
import { share } from '../../test/support/thorough.ts'
import type { Action } from '../model/action.ts'
import type { Event } from '../model/event.ts'
import { usualDiscipline } from '../systems/brain-spec.ts'
import type { ScaleSpec } from '../systems/scalers.ts'
import { type SchedulerName, schedulers } from '../systems/schedulers.ts'
import { bursty } from './arrivals.ts'
import type { Observer } from './environment.ts'
import { simulate, unitsPerSecond } from './simulate.ts'
import { lognormal } from './sizes.ts'

const enough = share(1000)

/** Asserts that scale-ins lose no job, and counts them. */
class Watch implements Observer {
  readonly draining = new Set<string>()
  readonly ended = new Set<string>()
  scaleIns = 0
  withJobs = 0

  observe(event: Event, actions: readonly Action[]): void {
    if (event.type === 'failed') assert.notEqual(event.kind, 'unreachable')
    for (const action of actions) {
      if (action.type === 'drain') {
        this.draining.add(action.worker)
        this.scaleIns++
        if (Number(action.reason.drainMs) > 0) this.withJobs++
      }
      if (action.type === 'terminate') this.ended.add(action.worker)
      if (action.type !== 'run') continue
      assert.ok(
        !this.draining.has(action.worker),
        `${action.job} was sent to ${action.worker}, which is draining`,
      )
      assert.ok(
        !this.ended.has(action.worker),
        `${action.job} was sent to ${action.worker}, which was terminated`,
      )
      assert.equal(action.attempt, 1, `${action.job} was started a second time`)
    }
  }
}

const jobs = 10_000

function run(scheduler: SchedulerName, scale: Partial<ScaleSpec>, seed: number) {
  const watch = new Watch()
  const discipline = usualDiscipline(scheduler)
  const result = simulate(
    {
      brain: {
        scheduler,
        discipline,
        scale: { min: 1, max: 30, ...scale },
        epoch: 1,
        seed,
        limits: { queue: 1e9 },
      },
      fleet: { cores: 2, workPerSecond: unitsPerSecond, memoryMb: 1e6, slots: 18, bootMs: 5000 },
      seed,
      jobs,
      arrivals: bursty(8, 10, 60_000, 30_000),
      sizes: lognormal(-2, 2),
      errorSigma: 0.5,
    },
    { observer: watch },
  )
  return { watch, summary: result.summary() }
}

test(`${enough} scale-ins under load lose no job, and no job is sent to a draining worker`, () => {
  let [scaleIns, withJobs] = [0, 0]
  for (let seed = 1; scaleIns < enough; seed++) {
    const scheduler = (Object.keys(schedulers) as SchedulerName[])[seed % 6]!
    const { watch, summary } = run(scheduler, { policy: 'hpa', target: 0.6 }, seed)
    assert.equal(summary.jobs, jobs)
    assert.equal(summary.refused, 0)
    scaleIns += watch.scaleIns
    withJobs += watch.withJobs
  }
  assert.ok(withJobs > 0, 'no worker had jobs when it was drained')
})

for (const policy of ['work-forecast', 'hpa', 'kpa'] as const) {
  test(`${policy}: every job is answered, from an empty fleet and back to one`, () => {
    const { watch, summary } = run('srpt', { policy, min: 0 }, 5)
    assert.equal(summary.jobs, jobs)
    assert.ok(watch.scaleIns > 0)
  })
}

test('workers are ended near the end of their billing period', () => {
  const periodMs = 600_000
  const since = new Map<string, number>()
  const booted = new Map<string, number>()
  const left: number[] = []
  const observer: Observer = {
    observe(event, actions, now) {
      for (const action of actions) {
        if (action.type === 'launch') since.set(action.launch, now)
        if (action.type === 'terminate' && booted.has(action.worker))
          left.push(periodMs - ((now - booted.get(action.worker)!) % periodMs))
      }
      if (event.type === 'joined') booted.set(event.worker.id, since.get(event.launch!)!)
    },
  }
  simulate(
    {
      brain: {
        ...{ scheduler: 'srpt', discipline: 'srpt', epoch: 1, seed: 1, limits: { queue: 1e9 } },
        scale: { min: 1, max: 30, policy: 'work-forecast', billing: { periodMs } },
      },
      fleet: { cores: 2, workPerSecond: unitsPerSecond, memoryMb: 1e6, slots: 18, bootMs: 5000 },
      seed: 1,
      jobs: 30_000,
      arrivals: bursty(8, 10, 900_000, 300_000),
      sizes: lognormal(-0.5, 1),
      errorSigma: 0,
    },
    { observer },
  )
  assert.ok(left.length > 3)
  // Sizes are known here, so workers are idle when the scaler expects it.
  for (const ms of left) assert.ok(ms <= periodMs / 10 + 10_000, `${ms} ms were paid for but not used`)
})
