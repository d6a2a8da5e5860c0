/** What is remembered of one job: entries with codes and numbers, and sums that hold also where entries are left out. */

import type { Quote } from '../estimate/estimator.ts'
import type { Action } from '../model/action.ts'
import type { Job, Outcome } from '../model/job.ts'
import type { Reason } from '../model/reason.ts'
import type { Book } from './books.ts'

/** What happened to it: it arrived, its client hung up, or what the brain did about it. */
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
  /** The brain's, with what stood around at that moment. */
  reason: Reason
  attempt?: number
  worker?: string
}

export interface Story {
  readonly job: Job
  readonly arrivedAt: number
  readonly entries: Entry[]
  /** Entries from the middle that were forgotten. */
  leftOut: number
  /** Where it is: in the queue, on a worker that has no core for it yet, running, paused, or over. */
  state: 'waiting' | 'behind' | 'running' | 'paused' | 'over'
  since: number
  /** How long it was in each of these states; what lost attempts ran is apart. */
  readonly ms: { waiting: number; behind: number; running: number; paused: number; lost: number }
  /** Why it is in the queue, while it is, and why it was there the longest time. */
  queued: Reason | undefined
  longestWait: { ms: number; reason: Reason } | undefined
  pauses: number
  pausedFrom: number
  /** How many jobs ran in its place while it was paused, and whether each that took its core needed less. */
  passedBy: number
  onlyByShorter: boolean
  /** How often it was given a turn, and when it was first let go first for its deadline. */
  turns: number
  urgentFrom: number | undefined
  /** Attempts that came to nothing, and the first of them. */
  lostAttempts: number
  firstLost: Entry | undefined
  attempt: number
  worker: string
  workPerSecond: number
  /** Jobs that were there when it came. */
  beside: number
  book: Book | undefined
  quote: Quote | undefined
  /** What it was expected to take when it arrived, and what the brain took that for on this fleet. */
  expectedMs: number | undefined
  countsMs: number | undefined
  /** How it ended. */
  outcome: Outcome | 'cancelled' | undefined
  endReason: Reason | undefined
  work: number | undefined
  cpuMs: number | undefined
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
    book: undefined,
    quote: undefined,
    expectedMs: undefined,
    countsMs: undefined,
    outcome: undefined,
    endReason: undefined,
    work: undefined,
    cpuMs: undefined,
  }
}

/** Half of the entries that are kept are the first, half the last. */
export const mostEntries = 200

export function addEntry(story: Story, entry: Entry): void {
  const { entries } = story
  entries.push(entry)
  if (entries.length <= mostEntries) return
  entries.splice(mostEntries / 2, 1)
  story.leftOut++
}

/** It is in another state from now on. Returns how long it was in the one before. */
export function enter(story: Story, state: Story['state'], now: number): number {
  const ms = now - story.since
  if (story.state !== 'over') story.ms[story.state] += ms
  story.state = state
  story.since = now
  return ms
}
