/** The supervisor's state of one attempt, including what the brain knows of it. */
import type { Readable } from 'node:stream'
import type { AttemptToken } from '../model/attempt.ts'
import type { WorkDone } from '../model/cost.ts'
import { noPrecedence, type Runnable, shareOf } from '../model/discipline.ts'
import type { Precedence } from '../model/job.ts'
import { amountOf, type Following, type MeterSetting, quantitiesIn } from '../model/metering.ts'
import { expectationAfter, firstExpectation } from '../model/revision.ts'
import type { AttemptHead } from '../wire/messages.ts'
import { ActiveTime } from './active-time.ts'
import type { JobAnswer, JobRun, JobUsage } from './job-run.ts'
import { Milestones } from './milestones.ts'

/**
 * What an attempt cost. With the meter off, work is its CPU time; unknown work is 0. `quantities` are sent to the front
 * in headers of their own.
 */
export type Usage = JobUsage & WorkDone & { quantities?: Record<string, number> }

export function withWork(usage: JobUsage, meter: MeterSetting, nominalRate: number): Usage {
  const { tally, cpuMs, measure } = usage
  const named = tally ? quantitiesIn(meter) : []
  const work =
    meter === 'off' && (measure === undefined || usage.work === undefined) ? cpuMs * nominalRate : usage.work
  return {
    ...usage,
    work: work ?? 0,
    ...(named.length > 0 && {
      quantities: Object.fromEntries(named.map((each) => [each.header, amountOf(each, tally!)])),
    }),
  }
}

/** What follows the head of an attempt. */
export interface AttemptBody {
  body?: Readable | undefined
  /** Alternating names and values; available when the body has ended. */
  trailers?: (() => string[]) | undefined
}

export interface AttemptState extends Runnable, Precedence {
  waiting: boolean
  readonly head: AttemptHead
  readonly body: Readable | undefined
  readonly trailers: (() => string[]) | undefined
  readonly answer: PromiseWithResolvers<JobAnswer>
  readonly usage: PromiseWithResolvers<Usage>
  run: JobRun | undefined
  /** Waits for the brain's permission to start. */
  awaitsGo: boolean
  ended: boolean
  expected: number
  reviseAt: number
  sharesUntil: number
  reviseTimer: NodeJS.Timeout | undefined
  /** The last state reported to the brain, from which it extrapolates while the attempt holds a core. */
  reported: { done: number; at: number; onCore: boolean }
  readonly active: ActiveTime
  /** How much of the attempt the workload's rate was already learned from. */
  learned: { work: number; cpuMs: number }
  readonly progress: Milestones | undefined
  readonly metrics: Milestones | undefined
}

export function newAttempt(
  head: AttemptHead,
  { body, trailers }: AttemptBody,
  following: Following,
  workPerSecond: number,
): AttemptState {
  const { progressEvery, metricsEvery } = following
  return {
    head,
    body,
    trailers,
    answer: Promise.withResolvers(),
    usage: Promise.withResolvers(),
    run: undefined,
    awaitsGo: head.ask,
    ended: false,
    running: false,
    waiting: false,
    rank: 0,
    get preemptible() {
      return head.preemptible && (this.run?.interruptible ?? true)
    },
    sharesUntil: shareOf(head, workPerSecond),
    ...(head.precedence ?? noPrecedence),
    ...firstExpectation(head),
    reviseTimer: undefined,
    active: new ActiveTime(),
    reported: { done: 0, at: performance.now(), onCore: false },
    learned: { work: 0, cpuMs: 0 },
    progress: progressEvery === undefined ? undefined : new Milestones(progressEvery),
    metrics: metricsEvery === undefined ? undefined : new Milestones(metricsEvery),
  }
}

/** True: it runs and does not wait for input or output. */
export function holdsCore({ running, waiting }: AttemptState): boolean {
  return running && !waiting
}

export function keyOf({ epoch, job, attempt }: AttemptToken): string {
  return `${epoch}/${job}/${attempt}`
}

export function tokenOf({ epoch, job, attempt }: AttemptToken): AttemptToken {
  return { epoch, job, attempt }
}

/** Revises precedence and estimate. The brain does the same when this amount is reported to it. */
export function revise(attempt: AttemptState, done: number): void {
  if (done >= attempt.until) attempt.until = 0
  if (done >= attempt.sharesUntil) attempt.sharesUntil = 0
  if (done >= attempt.reviseAt) Object.assign(attempt, expectationAfter(attempt.head, done))
}

/** Far more attempts than can be in flight. */
const maxRemembered = 10_000

/** Adds an entry, and deletes the oldest one if the map is full. */
export function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value)
  if (map.size > maxRemembered) map.delete(map.keys().next().value!)
}
