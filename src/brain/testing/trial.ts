/** A brain under test: short methods for its events, in virtual time, and its actions. */

import assert from 'node:assert/strict'
import type { Action } from '../../model/action.ts'
import type { AttemptToken, FailureKind, HeldAttempt } from '../../model/attempt.ts'
import type { Event } from '../../model/event.ts'
import type { Job } from '../../model/job.ts'
import type { BrainView } from '../../model/view.ts'
import type { SlotStarts, WorkerFacts } from '../../model/worker.ts'
import { type BrainSpec, brainOf, usualDiscipline } from '../../systems/brain-spec.ts'
import type { Brain } from '../brain.ts'

type Of<T extends Action['type']> = Extract<Action, { type: T }>
type Run = Of<'run'>
/** Fields of a token that are to be wrong. */
type Other = Partial<AttemptToken & { worker: string }>

export class Trial {
  readonly spec: BrainSpec
  brain: Brain
  now = 0
  /** The newest attempt at each job. */
  readonly runs = new Map<string, Run>()
  /** All actions so far. */
  readonly history: Action[] = []
  readonly #seqs = new Map<string, number>()

  /** Defaults: least-connections, no launches, epoch 1, no heartbeats. */
  constructor(spec: Partial<BrainSpec> = {}) {
    const scheduler = spec.scheduler ?? 'least-connections'
    this.spec = {
      scheduler,
      discipline: usualDiscipline(scheduler),
      scale: { min: 0, max: 1000 },
      epoch: 1,
      seed: 1,
      limits: {},
      ...spec,
    }
    this.brain = brainOf(this.spec)
  }

  get view(): BrainView {
    return this.brain.view()
  }

  /** Lets time pass, without a tick. */
  after(ms: number): this {
    this.now += ms
    return this
  }

  tell(event: Event): Action[] {
    const actions = this.brain.handle(event, this.now)
    this.history.push(...actions)
    for (const action of actions) {
      if (action.type === 'run') this.runs.set(action.job, action)
      if (
        action.type !== 'wake' &&
        action.type !== 'go' &&
        action.type !== 'ping' &&
        action.type !== 'read-cpu'
      ) {
        assert.ok(action.reason.code, `${action.type} without a reason`)
      }
    }
    return actions
  }

  tick(): Action[] {
    return this.tell({ type: 'tick' })
  }

  joins(
    id: string,
    facts: Partial<WorkerFacts> = {},
    more: { launch?: string; bootMs?: number; held?: HeldAttempt[] } = {},
  ): Action[] {
    const worker = { id, cores: 1, workPerSecond: 1000, memoryMb: 1000, slots: 10, ...facts }
    return this.tell({ type: 'joined', worker, seq: this.#next(id), held: [], ...more })
  }

  reports(worker: string, held: HeldAttempt[] = []): Action[] {
    return this.tell({ type: 'reported', worker, seq: this.#next(worker), held })
  }

  /** The same, with the total CPU time of its jobs. */
  reportsCpu(worker: string, cpuMs: number, held: HeldAttempt[] = []): Action[] {
    return this.tell({ type: 'reported', worker, seq: this.#next(worker), held, cpuMs })
  }

  /** Answers all pings that the worker was sent. */
  answersPings(worker: string): Action[] {
    const last = only(this.history, 'ping').findLast((action) => action.worker === worker)
    return last ? this.tell({ type: 'pong', worker, ping: last.ping }) : []
  }

  /** The same, with the memory of slots for small jobs. */
  reportsSmall(worker: string, smallMb: number, held: HeldAttempt[] = []): Action[] {
    return this.tell({ type: 'reported', worker, seq: this.#next(worker), held, smallMb })
  }

  /** The same, with the slots that are ready for jobs. */
  reportsSlots(worker: string, slotStarts: SlotStarts, held: HeldAttempt[] = []): Action[] {
    return this.tell({ type: 'reported', worker, seq: this.#next(worker), held, slotStarts })
  }

  arrives(id: string, job: Partial<Job> = {}, pressure?: number): Action[] {
    const arrived = { type: 'arrived', job: { id, workload: 'w', work: 1000, memoryMb: 1, ...job } } as const
    return this.tell({ ...arrived, ...(pressure !== undefined && { pressure }) })
  }

  finishes(job: string, token: Other = {}): Action[] {
    return this.tell({ type: 'finished', work: 1000, ...this.at(job), ...token })
  }

  fails(job: string, kind: FailureKind, token: Other = {}): Action[] {
    return this.tell({ type: 'failed', kind, ...this.at(job), ...token })
  }

  asks(job: string, token: Other = {}): Action[] {
    return this.tell({ type: 'ready', ...this.at(job), ...token })
  }

  progresses(job: string, done: number): Action[] {
    return this.tell({ type: 'progressed', done, ...this.at(job) })
  }

  /** The token and worker of the newest attempt at a job. */
  at(job: string): AttemptToken & { worker: string } {
    const { epoch, attempt, worker } = this.runs.get(job)!
    return { epoch, job, attempt, worker }
  }

  /** The same, as its worker would report it. */
  held(job: string, done?: number): HeldAttempt {
    const { epoch, attempt } = this.at(job)
    return { epoch, job, attempt, ...(done !== undefined && { done }) }
  }

  #next(worker: string): number {
    const seq = (this.#seqs.get(worker) ?? 0) + 1
    this.#seqs.set(worker, seq)
    return seq
  }
}

/** The actions of one type. */
export function only<T extends Action['type']>(actions: readonly Action[], type: T): Of<T>[] {
  return actions.filter((action): action is Of<T> => action.type === type)
}

/** Which job was sent where, as "job worker". */
export function sent(actions: readonly Action[]): string[] {
  return only(actions, 'run').map(({ job, worker }) => `${job} ${worker}`)
}

/** How jobs ended, as "job outcome code". */
export function answers(actions: readonly Action[]): string[] {
  return only(actions, 'answer').map(({ job, outcome, reason }) => `${job} ${outcome} ${reason.code}`)
}
