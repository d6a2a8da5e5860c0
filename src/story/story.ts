/** The record of one job: entries with reason codes and numbers, and totals that also cover omitted entries. */

import type { Quote } from '../estimate/estimator.ts'
import type { Action } from '../model/action.ts'
import type { Job, Outcome } from '../model/job.ts'
import type { Reason } from '../model/reason.ts'

/** The job arrived, its client hung up, or the brain acted on it. */
export type StoryEvent =
  | 'arrived'
  | 'cancelled'
  | Extract<
      Action['type'],
      | 'wait'
      | 'run'
      | 'overflow'
      | 'go'
      | 'rank'
      | 'pause'
      | 'resume'
      | 'revise'
      | 'retry'
      | 'drop'
      | 'answer'
    >

export interface Entry {
  at: number
  event: StoryEvent
  /** The brain's reason, with further facts of that moment. */
  reason: Reason
  attempt?: number
  worker?: string
}

/** One worker, as far as the stories of its jobs need it. */
export interface WorkerTally {
  readonly workPerSecond: number
  /** Jobs on the worker, and how many of them have no core. */
  held: number
  idle: number
  /** Jobs that lost their core to another job. */
  readonly preempted: Set<Story>
  ready: boolean
  /** Attempts whose connection broke: the worker may turn out to be lost. */
  readonly brokenConnections: Entry[]
}

export interface Story {
  readonly job: Job
  readonly arrivedAt: number
  readonly entries: Entry[]
  /** Number of entries omitted from the middle. */
  leftOut: number
  /** `behind`: on a worker that has no core for it yet. */
  state: 'waiting' | 'behind' | 'running' | 'paused' | 'over'
  since: number
  /** Time in each state; the running time of lost attempts is counted separately. */
  readonly ms: { waiting: number; behind: number; running: number; paused: number; lost: number }
  /** Why it is queued now, and why it was queued longest. */
  queued: Reason | undefined
  longestWait: { ms: number; reason: Reason } | undefined
  pauses: number
  pausedFrom: number
  /** Number of jobs that ran in its place while it was paused, and whether all that preempted it needed less. */
  passedBy: number
  onlyByShorter: boolean
  /** Number of turns, and when it first went first because of its deadline. */
  turns: number
  urgentFrom: number | undefined
  /** Number of failed attempts, and the first of them. */
  lostAttempts: number
  firstLost: Entry | undefined
  attempt: number
  worker: string
  workPerSecond: number
  /** Jobs already on the worker when it arrived there. */
  beside: number
  tally: WorkerTally | undefined
  quote: Quote | undefined
  /** Running time expected on arrival, and the time that the brain used to compare jobs on this fleet. */
  expectedMs: number | undefined
  countsMs: number | undefined
  outcome: Outcome | 'cancelled' | undefined
  endReason: Reason | undefined
  work: number | undefined
  cpuMs: number | undefined
}

/** The work that was expected, without the overhead that the brain adds to it: that is not metered. */
export function expectedWork({
  quote,
  job,
}: Pick<Story, 'quote' | 'job'>): Pick<Job, 'work' | 'low' | 'high'> {
  return quote ?? job
}

export function newStory(job: Job, now: number): Story {
  return {
    job,
    arrivedAt: now,
    entries: [],
    leftOut: 0,
    state: 'waiting',
    since: now,
    ms: { waiting: 0, behind: 0, running: 0, paused: 0, lost: 0 },
    queued: undefined,
    longestWait: undefined,
    pauses: 0,
    pausedFrom: 0,
    passedBy: 0,
    onlyByShorter: true,
    turns: 0,
    urgentFrom: undefined,
    lostAttempts: 0,
    firstLost: undefined,
    attempt: 0,
    worker: '',
    workPerSecond: 0,
    beside: 0,
    tally: undefined,
    quote: undefined,
    expectedMs: undefined,
    countsMs: undefined,
    outcome: undefined,
    endReason: undefined,
    work: undefined,
    cpuMs: undefined,
  }
}

/** From its start to its end; undefined: its attempt failed, or it had to wait for a core. */
export function undisturbedMs({ ms, lostAttempts }: Pick<Story, 'ms' | 'lostAttempts'>): number | undefined {
  const { waiting, behind, paused, running } = ms
  return waiting + behind + paused + lostAttempts > 0 ? undefined : running
}

/** The first and the last half of this number are kept. */
export const mostEntries = 200

export function addEntry(story: Story, entry: Entry): void {
  const { entries } = story
  entries.push(entry)
  if (entries.length <= mostEntries) return
  entries.splice(mostEntries / 2, 1)
  story.leftOut++
}

/** Changes the state and returns the time spent in the previous one. */
export function enter(story: Story, state: Story['state'], now: number): number {
  const ms = now - story.since
  if (story.state !== 'over') story.ms[story.state] += ms
  story.state = state
  story.since = now
  return ms
}
