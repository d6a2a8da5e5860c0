/** An attempt in a supervisor's hands, and what the brain believes of it. */
import type { Readable } from 'node:stream'
import type { AttemptToken } from '../model/attempt.ts'
import type { WorkDone } from '../model/cost.ts'
import { noPrecedence, type Runnable } from '../model/discipline.ts'
import type { Precedence } from '../model/job.ts'
import type { Following } from '../model/metering.ts'
import { expectationAfter, firstExpectation } from '../model/revision.ts'
import type { AttemptHead } from '../wire/messages.ts'
import { Milestones } from './slots/milestones.ts'
import type { SlotAnswer, SlotRun, SlotUsage } from './slots/slot-run.ts'

/** What an attempt cost. With the meter off, work is its CPU time; where it was never known, 0. `told`: headers of their own. */
export type Usage = SlotUsage & WorkDone & { told?: Record<string, number> }

/** What follows the head of an attempt. */
export interface AttemptBody {
  body?: Readable | undefined
  /** Name and value in turn; known when the body has ended. */
  trailers?: (() => string[]) | undefined
}

export interface Held extends Runnable, Precedence {
  readonly head: AttemptHead
  readonly body: Readable | undefined
  readonly trailers: (() => string[]) | undefined
  readonly answer: PromiseWithResolvers<SlotAnswer>
  readonly usage: PromiseWithResolvers<Usage>
  run: SlotRun | undefined
  /** Waits for permission to start. */
  asks: boolean
  over: boolean
  expected: number
  reviseAt: number
  reviseTimer: NodeJS.Timeout | undefined
  /** What the brain was last told, and can extrapolate from. */
  told: { done: number; at: number; running: boolean }
  /** How far the rate of its workload was learned from it. */
  learned: { work: number; cpuMs: number }
  readonly progress: Milestones | undefined
  readonly metrics: Milestones | undefined
}

export function newHeld(head: AttemptHead, { body, trailers }: AttemptBody, following: Following): Held {
  const { progressEvery, metricsEvery } = following
  return {
    head,
    body,
    trailers,
    answer: Promise.withResolvers(),
    usage: Promise.withResolvers(),
    run: undefined,
    asks: head.ask,
    over: false,
    running: false,
    rank: 0,
    get preemptible() {
      return head.preemptible && (this.run?.interruptible ?? true)
    },
    ...(head.precedence ?? noPrecedence),
    ...firstExpectation(head),
    reviseTimer: undefined,
    told: { done: 0, at: performance.now(), running: false },
    learned: { work: 0, cpuMs: 0 },
    progress: progressEvery === undefined ? undefined : new Milestones(progressEvery),
    metrics: metricsEvery === undefined ? undefined : new Milestones(metricsEvery),
  }
}

export function keyOf({ epoch, job, attempt }: AttemptToken): string {
  return `${epoch}/${job}/${attempt}`
}

export function tokenOf({ epoch, job, attempt }: AttemptToken): AttemptToken {
  return { epoch, job, attempt }
}

/** The brain does the same when it is told so. */
export function standAnew(held: Held, done: number): void {
  if (done >= held.until) held.until = 0
  if (done >= held.reviseAt) Object.assign(held, expectationAfter(held.head, done))
}

/** Of attempts that are not here so many are remembered: far more than can still be under way. */
const mostRemembered = 10_000

/** Keeps the newest. */
export function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value)
  if (map.size > mostRemembered) map.delete(map.keys().next().value!)
}
