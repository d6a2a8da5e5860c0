import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Action } from '../../model/action.ts'
import type { Job } from '../../model/job.ts'
import { explain } from '../../story/reasons.ts'
import { type BrainLimits, usualStalls } from '../limits.ts'
import { answers, only, sent, Trial } from '../testing/trial.ts'

const rule = { ...usualStalls, afterMs: 10_000 }

/** The workers of a fleet, and what each attempt on them has reported so far. */
class Fleet extends Trial {
  readonly #reported = new Map<string, { activeMs: number; cpuMs: number; done: number }>()

  constructor(limits: Partial<BrainLimits> = {}, min = 0) {
    super({
      ...{ scheduler: 'srpt', discipline: 'srpt', scale: { min, max: 10 } },
      limits: { stalls: rule, beatMs: 1000, missedBeats: 1e9, freshMs: 1e9, settleMs: 1e9, ...limits },
    })
  }

  /** A second passes in which the jobs advance by these parts of what they should do; the others do all. */
  second(
    parts: Record<string, number | { cpu: number; work: number }> = {},
    waiting: readonly string[] = [],
  ): Action[] {
    this.after(1000)
    const actions: Action[] = []
    for (const { id, jobs } of this.view.workers) {
      const held = jobs.map(({ job, running }) => {
        const key = `${job}/${this.at(job).attempt}`
        const before = this.#reported.get(key) ?? { activeMs: 0, cpuMs: 0, done: 0 }
        const part = parts[job] ?? 1
        const { cpu, work } = typeof part === 'number' ? { cpu: part, work: part } : part
        const ms = running && !waiting.includes(job) ? 1000 : 0
        const now = {
          activeMs: before.activeMs + ms,
          cpuMs: before.cpuMs + ms * cpu,
          done: before.done + ms * work,
        }
        this.#reported.set(key, now)
        return { ...this.held(job), ...now, ...(waiting.includes(job) && { waiting: true as const }) }
      })
      actions.push(...this.reports(id, held))
    }
    return [...actions, ...this.tick()]
  }

  seconds(count: number, ...how: Parameters<Fleet['second']>): Action[] {
    return Array.from({ length: count }, () => this.second(...how)).flat()
  }

  /** A job of an hour. */
  long(id: string, job: Partial<Job> = {}): Action[] {
    return this.arrives(id, { work: 3_600_000, ...job })
  }
}

const drained = (actions: readonly Action[]) => only(actions, 'drain').map(({ worker }) => worker)
const ended = (actions: readonly Action[]) =>
  only(actions, 'cancel').map(({ job, reason }) => `${job} ${reason.code}`)

function fleetOf(ids: string[], limits?: Partial<BrainLimits>): Fleet {
  const fleet = new Fleet(limits)
  for (const id of ids) fleet.joins(id)
  return fleet
}

test('a job that stands still is tried elsewhere, and its worker drained', () => {
  const fleet = fleetOf(['a', 'b', 'c'])
  fleet.long('j1')
  const { worker } = fleet.at('j1')
  assert.deepEqual(ended(fleet.seconds(10, { j1: 0 })), [])
  const actions = fleet.second({ j1: 0 })
  assert.deepEqual(ended(actions), ['j1 stalled'])
  assert.deepEqual(drained(actions), [worker])
  assert.equal(fleet.at('j1').attempt, 2)
  assert.notEqual(fleet.at('j1').worker, worker)
  assert.equal(explain(only(actions, 'drain')[0]!.reason), 'a job stood still there for 10 s')
  const view = fleet.view.workers.find(({ id }) => id === worker)
  assert.equal(view, undefined, 'it is empty, so it has ended')
})

test('a late result of the attempt that stood still is not an answer', () => {
  const fleet = fleetOf(['a', 'b'])
  fleet.long('j1')
  const late = fleet.at('j1')
  fleet.seconds(11, { j1: 0 })
  assert.deepEqual(answers(fleet.finishes('j1', late)), [])
  assert.deepEqual(answers(fleet.finishes('j1')), ['j1 result finished'])
})

test('without the rule, a job that stands still is left alone', () => {
  const fleet = fleetOf(['a', 'b'], { stalls: null })
  fleet.long('j1')
  assert.deepEqual(ended(fleet.seconds(100, { j1: 0 })), [])
})

test('a job at a twentieth of its rate is tried elsewhere, one at an eighth is not', () => {
  for (const [part, ends] of [[1 / 20, ['j1 stalled']] as const, [1 / 8, []] as const]) {
    const fleet = fleetOf(['a', 'b'])
    fleet.long('j1')
    assert.deepEqual(ended(fleet.seconds(12, { j1: part })), ends, `${part}`)
  }
})

test('a slow job that is nearly done stays where it is', () => {
  const fleet = fleetOf(['a', 'b'])
  fleet.long('j1', { work: 101_000 })
  fleet.seconds(100)
  assert.deepEqual(ended(fleet.seconds(15, { j1: 1 / 20 })), [])
})

test('a job whose CPU time grows is alive, even if its code counts no work', () => {
  const fleet = fleetOf(['a', 'b'])
  fleet.long('j1')
  assert.deepEqual(ended(fleet.seconds(100, { j1: { cpu: 1, work: 0 } })), [])
})

test('work is compared with the CPU time and the learned speed of such jobs', () => {
  const slow = { j1: { cpu: 1, work: 1 / 20 } }
  const ends = (job: Partial<Job>) => {
    const fleet = fleetOf(['a', 'b'])
    fleet.long('j1', job)
    return ended(fleet.seconds(12, slow))
  }
  assert.deepEqual(ends({}), ['j1 stalled'])
  assert.deepEqual(ends({ speed: { expected: 1 / 20, high: 1 / 10 } }), [])
  // How fast such jobs are is not known yet.
  assert.deepEqual(ends({ unproven: true }), [])
})

test('jobs that wait for input or output, or are paused, do not stand still', () => {
  const waits = fleetOf(['a', 'b'])
  waits.long('j1')
  assert.deepEqual(ended(waits.seconds(100, { j1: 0 }, ['j1'])), [])
  const paused = fleetOf(['a'])
  paused.long('j1')
  paused.arrives('j2', { work: 100_000 })
  assert.deepEqual(ended(paused.seconds(50, { j1: 0 })), [])
})

test('a job whose CPU time is not known is not judged', () => {
  const trial = new Trial({ scheduler: 'srpt', limits: { stalls: rule, beatMs: 1000, missedBeats: 1e9 } })
  for (const id of ['a', 'b']) trial.joins(id)
  trial.arrives('j1', { work: 3_600_000 })
  const { worker } = trial.at('j1')
  for (let i = 0; i < 100; i++) trial.after(1000).reports(worker, [trial.held('j1', 1)])
  assert.deepEqual(ended(trial.history), [])
})

test('a worker on which another job advances is not drained', () => {
  const fleet = new Fleet()
  fleet.joins('a', { cores: 2 })
  fleet.long('j1')
  fleet.long('j2')
  fleet.joins('b')
  const actions = fleet.seconds(12, { j1: 0 })
  assert.deepEqual(ended(actions), ['j1 stalled'])
  assert.deepEqual(drained(actions), [])
  assert.deepEqual(sent(actions), ['j1 b'])
})

test('a job that stands still everywhere fails after three attempts, and drains one worker', () => {
  const fleet = fleetOf(['a', 'b', 'c', 'd'])
  fleet.long('j1')
  const actions = fleet.seconds(50, { j1: 0 })
  assert.deepEqual(answers(actions), ['j1 refused no-progress'])
  assert.equal(ended(actions).length, 3)
  assert.equal(drained(actions).length, 1)
  assert.equal(
    explain(only(actions, 'answer')[0]!.reason),
    'it stood still in 3 attempts, the last time for 10 s',
  )
})

test('a job that is slow everywhere is left alone after two attempts', () => {
  const fleet = fleetOf(['a', 'b', 'c', 'd'])
  fleet.long('j1')
  const actions = fleet.seconds(200, { j1: 1 / 20 })
  assert.equal(ended(actions).length, 2)
  assert.deepEqual(answers(actions), [])
})

test('many jobs that stand still drain at most half of the workers', () => {
  const fleet = fleetOf(['a', 'b', 'c', 'd'])
  for (let i = 1; i <= 8; i++) {
    fleet.long(`j${i}`)
    fleet.seconds(50, { [`j${i}`]: 0 })
  }
  assert.equal(drained(fleet.history).length, 2)
  assert.equal(answers(fleet.history).length, 8)
})

test('the only worker is drained if a launch replaces it, and never otherwise', () => {
  const remote = fleetOf(['a'])
  remote.long('j1')
  const actions = remote.seconds(12, { j1: 0 })
  assert.deepEqual([ended(actions), drained(actions)], [['j1 stalled'], []])
  assert.deepEqual(sent(actions), ['j1 a'])

  const launched = new Fleet({}, 1)
  const [first] = only(launched.tick(), 'launch')
  launched.joins('a', {}, { launch: first!.launch })
  launched.long('j1')
  const replaced = launched.seconds(12, { j1: 0 })
  assert.deepEqual(drained(replaced), ['a'])
  const [second] = only(replaced, 'launch')
  assert.deepEqual(sent(launched.joins('b', {}, { launch: second!.launch })), ['j1 b'])
})

test('if most workers stand still at once, their jobs get three times the time', () => {
  const fleet = fleetOf(['a', 'b', 'c'])
  const still = { j1: 0, j2: 0, j3: 0 }
  for (const job of Object.keys(still)) fleet.long(job)
  assert.deepEqual(ended(fleet.seconds(30, still)), [])
  assert.deepEqual(ended(fleet.second(still)).slice(0, 1), ['j1 stalled'])
})

test('a job that must not be repeated goes on where it is; its worker is drained', () => {
  const fleet = fleetOf(['a', 'b'])
  fleet.long('j1', { safeToRepeat: false })
  const { worker } = fleet.at('j1')
  fleet.asks('j1')
  const actions = fleet.seconds(50, { j1: 0 })
  assert.deepEqual(drained(actions), [worker])
  const view = fleet.view.workers.find(({ id }) => id === worker)
  assert.deepEqual([view?.state, view?.notice?.code], ['draining', 'stalled'])
  assert.deepEqual([ended(actions), sent(actions), answers(actions)], [[], [], []])
})

test('an answer that has begun is not repeated', () => {
  const fleet = fleetOf(['a', 'b'])
  fleet.long('j1')
  fleet.tell({ type: 'answering', ...fleet.at('j1') })
  assert.deepEqual(ended(fleet.seconds(50, { j1: 0 })), [])
})

test('impossible figures are ignored', () => {
  const fleet = fleetOf(['a', 'b'])
  fleet.long('j1')
  for (const activeMs of [-1, Number.NaN, Infinity, 5, 4])
    fleet.after(1000).reports(fleet.at('j1').worker, [{ ...fleet.held('j1', 0), activeMs, cpuMs: 0 }])
  assert.deepEqual(ended(fleet.history), [])
})
