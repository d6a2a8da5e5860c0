import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { share } from '../../test/support/thorough.ts'
import { ContractError } from '../lib/errors.ts'
import type { AttemptToken, FailureKind, HeldAttempt, Ongoing } from '../model/attempt.ts'
import { type DisciplineName, disciplines } from '../model/discipline.ts'
import type { Event } from '../model/event.ts'
import { Invariants } from '../simulate/invariants.ts'
import { usualDiscipline } from '../systems/brain-spec.ts'
import type { ScaleSpec } from '../systems/scalers.ts'
import { type SchedulerName, schedulers } from '../systems/schedulers.ts'
import { Trial } from './testing/trial.ts'

// Fixed, so that every run tests the same cases.
fc.configureGlobal({ seed: 1 })

/** Numbers from which a step draws an event, given what the brain holds by then. */
interface Step {
  type: Event['type']
  /** Which job, worker, attempt: out of all there are, and a few that are not. */
  pick: number
  other: number
  /** True: the token names an attempt that a worker holds. */
  apt: boolean
  /** May be anything that is a number. */
  amount: number
  waitMs: number
  kind: FailureKind
}

const types: Step['type'][] = ['arrived', 'cancelled', 'ready', 'progressed', 'finished', 'failed', 'joined']
const moreTypes: Step['type'][] = ['reported', 'lost', 'launch-failed', 'drain', 'tick']
const often: Step['type'][] = ['arrived', 'arrived', 'arrived', 'finished', 'failed', 'joined', 'reported']

const tierTypes: Step['type'][] = ['leave-requested', 'leave-requested', 'tick', 'tick']
const tiers = {
  hours: Array.from({ length: 24 }, () => 6),
  ...{ minFront: 2, minMiddle: 1, everyMs: 300, endEveryMs: 50, dropAfterMs: { browse: 400, purchase: 900 } },
}

const usualStep = stepOf([...types, ...moreTypes, ...often])
const tierStep = stepOf([...types, ...moreTypes, ...often, ...tierTypes])

function stepOf(all: Step['type'][]): fc.Arbitrary<Step> {
  return fc.record({
    type: fc.constantFrom(...all),
    pick: fc.nat(1000),
    other: fc.nat(1000),
    apt: fc.boolean(),
    amount: fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 0, max: 5000 }) },
      fc.double(),
      fc.constantFrom(Number.NaN, Infinity, -Infinity, -1, 0),
    ),
    waitMs: fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min: 0, max: 400 }) },
      fc.integer({ min: -500, max: 20_000 }),
    ),
    kind: fc.constantFrom('error', 'limit', 'crash', 'unreachable', 'refused'),
  })
}

/** Options under which jobs of a few units meet all rules of the policies. */
const placing = {
  classes: { intermediate: 500, max: 2000, mostIntermediate: 4, mostMax: 3, graceMs: 90, mostQueued: 3 },
}

/** The brain's state, without what changes as time passes. */
function believed({ view }: Trial): string {
  return JSON.stringify(view, (key, value) => (timed.has(key) ? undefined : value))
}
const timed: ReadonlySet<string> = new Set(['now', 'done', 'remaining', 'outstanding', 'ranMs'])

/** A brain under hostile events, and the checks of its state. */
class Siege {
  readonly trial: Trial
  readonly checks: Invariants
  #jobs = 0
  #seq = 1000

  readonly #tiered: boolean

  constructor(scheduler: SchedulerName, discipline: DisciplineName, scale: ScaleSpec = { min: 1, max: 4 }) {
    const limits = {
      ...{ queue: 6, crashes: 3, losses: 3, attempts: 5, beatMs: 100, missedBeats: 3, freshMs: 2000 },
      ...{ settleMs: 50, bootMs: 1000, backoffMs: 50, backoffMaxMs: 400, recoverMs: 3000 },
    }
    this.trial = new Trial({ scheduler, discipline, epoch: 2, scale, limits, placing })
    this.#tiered = scale.tiers !== undefined
    this.checks = new Invariants({ bounded: disciplines[discipline].bounded })
  }

  take(step: Step): void {
    this.trial.after(step.waitMs)
    this.tell(this.#event(step))
  }

  /** A broken contract must change nothing; all else must leave everything in order. */
  tell(event: Event): void {
    const before = believed(this.trial)
    try {
      const actions = this.trial.tell(event)
      this.checks.observe(event, actions, this.trial.now, this.trial.brain)
      sound(actions)
    } catch (error) {
      if (!(error instanceof ContractError)) throw error
      assert.equal(believed(this.trial), before)
    }
    this.#consistent()
  }

  /** Peace: workers come, report the truth, and finish what they hold. Then nobody may be left waiting. */
  end(): void {
    for (let round = 0; round < 150 && this.trial.view.jobs > 0; round++) {
      this.trial.after(100)
      this.tell({ type: 'tick' })
      const { workers, booting } = this.trial.view
      const working = workers.some(({ state, role }) => state === 'ready' && role !== 'front')
      if (!working || booting.length > 0) this.#join(`late${round}`, booting[0])
      for (const { id, jobs } of workers) {
        const held = jobs.map(({ job, attempt }) => ({ epoch: this.#epochOf(job), job, attempt }))
        this.tell({ type: 'reported', worker: id, seq: ++this.#seq, held })
        for (const token of held) this.tell({ type: 'finished', ...token, worker: id, work: 1 })
      }
    }
    this.checks.finally(this.trial.brain)
    const { timers, booting, workers } = this.trial.view
    const pauses = timers - booting.length - workers.length
    assert.ok(pauses >= 0 && pauses <= 40, `${timers} timers are left`)
  }

  #join(id: string, launch: string | undefined): void {
    const worker = { id, cores: 2, workPerSecond: 1000, memoryMb: 1000, slots: 8 }
    this.tell({ type: 'joined', worker, ...(launch && { launch }), seq: ++this.#seq, held: [] })
  }

  #consistent(): void {
    const { counters, jobs, waiting, placed, workers } = this.trial.view
    const { accepted, results, errors, refused, unknown, cancelled, dropped } = counters
    assert.equal(accepted, results + errors + refused + unknown + cancelled + dropped + jobs)
    assert.equal(
      placed,
      workers.reduce((sum, worker) => sum + worker.jobs.length, 0),
    )
    assert.equal(new Set(waiting).size, waiting.length)
    sound(this.trial.view)
  }

  #event({ type, pick, other, apt, amount, kind }: Step): Event {
    const worker = `w${pick % 6}`
    switch (type) {
      case 'arrived':
        return {
          type,
          job: this.#job(pick, other, apt, amount),
          ...(pick % 6 === 0 && { on: this.#on(pick, other) }),
        }
      case 'cancelled':
        return { type, job: `j${pick % (this.#jobs + 2)}` }
      case 'ready':
        return { type, ...this.#token(pick, other, apt) }
      case 'progressed':
        return { type, ...this.#token(pick, other, apt), done: amount }
      case 'finished':
        return { type, ...this.#token(pick, other, apt), work: amount }
      case 'failed':
        return { type, ...this.#token(pick, other, apt), kind }
      case 'joined': {
        const facts = { cores: 1 + (other % 3), slots: 1 + (other % 5), memoryMb: 100 * (other % 4) }
        const workPerSecond = apt ? 1000 : amount
        const launch = [undefined, ...this.trial.view.booting, 'nonsense'][other % 4]
        const event = {
          worker: { id: worker, workPerSecond, ...facts },
          seq: pick,
          held: this.#held(other, amount),
        }
        return { type, ...event, ...(launch !== undefined && { launch }) }
      }
      case 'reported':
        return { type, worker, seq: apt ? ++this.#seq : other, held: this.#held(other, amount) }
      case 'launch-failed':
        return { type, launch: this.trial.view.booting[other % 3] ?? 'nonsense' }
      case 'leave-requested':
        return {
          type,
          worker: pick % 9 === 0 ? 'coordinator' : worker,
          why: apt ? 'idle' : 'slow',
          ms: amount,
        }
      case 'lost':
      case 'drain':
        return { type, worker }
      default:
        return { type: 'tick' }
    }
  }

  /** A new job; now and then one that is there already. Ids are not used again: that is the driver's promise. */
  #job(pick: number, other: number, apt: boolean, amount: number) {
    const [known] = this.trial.view.waiting
    const id = pick % 20 === 0 && known ? known : `j${++this.#jobs}`
    const deadlineAt = this.trial.now + (other % 7 === 0 ? amount : (other % 500) - 20)
    return {
      ...{ id, workload: 'w', work: apt ? other : amount, memoryMb: other % 150 },
      ...(pick % 3 === 0 && { deadlineAt }),
      ...(pick % 4 === 0 && { safeToRepeat: false }),
      ...(pick % 5 === 0 && { preemptible: false }),
      ...(this.#tiered && { lane: pick % 2 === 0 ? 'browse' : 'purchase' }),
      ...(this.#tiered && pick % 3 > 0 && { front: `w${other % 7}` }),
    }
  }

  /** Of the brain that began its attempt. */
  #epochOf(job: string): number {
    const last = this.trial.history.findLast(
      (action) => (action.type === 'run' || action.type === 'adopt') && action.job === job,
    )
    return (last as AttemptToken | undefined)?.epoch ?? 2
  }

  /** An attempt of an earlier brain, on a worker that may be there. */
  #on(pick: number, other: number): Ongoing {
    return {
      ...{ worker: `w${other % 7}`, epoch: 1, attempt: 1 + (other % 3) },
      ...(pick % 4 === 0 && other % 2 === 0 && { committed: true as const }),
      ...(other % 5 === 0 && { answering: true as const }),
    }
  }

  #token(pick: number, other: number, apt: boolean): AttemptToken & { worker: string } {
    const inHand = this.trial.view.workers.flatMap(({ id, jobs }) =>
      jobs.map(({ job, attempt }) => ({ epoch: this.#epochOf(job), job, attempt, worker: id })),
    )
    if (apt && inHand.length > 0) return inHand[pick % inHand.length]!
    const job = `j${pick % (this.#jobs + 2)}`
    return { epoch: 1 + (other % 3), job, attempt: other % 4, worker: `w${other % 7}` }
  }

  /** Some attempts that workers hold, and some garbage. */
  #held(other: number, amount: number): HeldAttempt[] {
    const held = [0, 1, 2].map((i) => {
      const { worker: _, ...token } = this.#token(other + i, other + i, (other >> i) % 2 === 0)
      return { ...token, ...(other % 2 === 0 && { done: amount }) }
    })
    return held.slice(0, other % 4)
  }
}

/** All numbers in actions must be finite. */
function sound(value: unknown): void {
  if (typeof value === 'number') assert.ok(!Number.isNaN(value), 'NaN')
  else if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) sound(part)
}

for (const scheduler of Object.keys(schedulers) as SchedulerName[]) {
  describe(scheduler, () => {
    for (const discipline of Object.keys(disciplines) as DisciplineName[]) {
      test(`arbitrary events leave the state consistent and every job is answered (${discipline})`, () => {
        fc.assert(
          fc.property(fc.array(usualStep, { maxLength: 120, size: 'max' }), (steps) => {
            const siege = new Siege(scheduler, discipline)
            siege.tell({ type: 'tick' })
            for (const step of steps) siege.take(step)
            siege.end()
          }),
          { numRuns: share(discipline === usualDiscipline(scheduler) ? 100 : 25) },
        )
      })
    }
  })
}

test('arbitrary events leave a cluster with tiers consistent', () => {
  fc.assert(
    fc.property(fc.array(tierStep, { maxLength: 120, size: 'max' }), (steps) => {
      const siege = new Siege('central-queue', 'sharing', { min: 2, max: 5, policy: 'queue-length', tiers })
      siege.tell({ type: 'tick' })
      for (const step of steps) siege.take(step)
      siege.end()
    }),
    { numRuns: share(300) },
  )
})
