/** What the brain remembers of jobs, attempts, workers and launches: plain records. */

import type { Entry } from '../lib/heap.ts'
import type { HeldAttempt } from '../model/attempt.ts'
import type { Job, Precedence } from '../model/job.ts'
import type { Reason } from '../model/reason.ts'
import { firstExpectation, type Prediction } from '../model/revision.ts'
import type { SlotStarts, WorkerFacts } from '../model/worker.ts'
import { type Health, newHealth } from './health.ts'
import { newPingState, type PingState } from './ping-state.ts'
import type { Watch } from './stall.ts'
import type { Timer } from './timer.ts'

/** A job from its arrival to its end. What belongs to one try at it is in `attempt`. */
export interface JobRecord extends Precedence {
  readonly job: Job
  /** True: an earlier brain had accepted it. */
  readonly isAdopted: boolean
  /** Order of arrival; breaks ties in every queue. */
  readonly seq: number
  readonly arrivedAt: number
  /** Jobs that name no client share one. */
  readonly client: string
  /** The name under which its work counts in the shares of clients. */
  sharer: string
  /** The first estimate: the work that the job is expected to need, and how much it has done when that is revised. */
  readonly expected: number
  readonly reviseAt: number
  /** The current attempt. `beginAttempt` sets it and `endAttempt` removes it. */
  attempt: Attempt | undefined
  /** Attempts begun so far. */
  attempts: number
  /** Attempts that took their slot down, attempts whose slot or worker was lost, and attempts that were overdue. */
  crashes: number
  losses: number
  resent: number
  /** Attempts that stood still and were ended for that. */
  stalls: number
  /** Its retries on workers so far, why it waits for the next one, and what that does again, in time of a core. */
  retries: number
  held: Reason | undefined
  redoneMs: number
  /** Workers that failed this job. */
  excluded: Set<string> | undefined
  /** The work that its client has paid for, and the work of all attempts that have ended. */
  paid: number
  spent: number
  /** Time on a core for which it goes first. `until` is the same as work of its worker, or this while it is queued. */
  aheadMs: number
  /** `owed`: it has waited long enough to be owed a turn. `taken`: it has its turn now. */
  turn: 'none' | 'owed' | 'taken'
  /** Its entry in the queue, and whether it is queued apart from the ranked jobs. */
  queued: Entry<JobRecord> | undefined
  aside: boolean
  /** The launch that was made for it. */
  awaits: string | undefined
  /** Undefined: the cluster has no functions. */
  functions: FunctionUse | undefined
  /** Its timers; each belongs to the concern that its kind names. */
  deadlineTimer: Entry<Timer> | undefined
  slackTimer: Entry<Timer> | undefined
  turnTimer: Entry<Timer> | undefined
  queueTimer: Entry<Timer> | undefined
  patienceTimer: Entry<Timer> | undefined
  retryTimer: Entry<Timer> | undefined
}

/** How a job may use functions, and has. */
export interface FunctionUse {
  /** Attempts in functions so far. */
  tries: number
  /** While the job waits for its next attempt in a function: when that is due; else 0. */
  retryAt: number
  /** True: only workers may run it from now on. */
  fleetOnly: boolean
  /** The part of its work that counts in the backlog. */
  weight: number
}

/** One try at a job, on a worker or in a function. */
export interface Attempt {
  readonly record: JobRecord
  readonly job: Job
  /** Of the brain that began it. */
  readonly epoch: number
  /** 1 for the first attempt at the job. */
  readonly number: number
  /** For attempts in functions, the record that stands for all functions. Changes when a worker joins that was absent. */
  worker: WorkerRecord
  readonly inFunction: boolean
  readonly preemptible: boolean
  sharesUntil: number
  readonly sentAt: number
  /** True: it must not be repeated, and has been permitted to start. */
  committed: boolean
  /** True: its answer has begun to arrive. */
  answering: boolean
  /** The last report of its worker that named it, by number. */
  seenIn: number
  /** The mirror of its worker: whether it runs, the work it had done at `since`, and its time on a core by then. */
  running: boolean
  /** It waits for input or output: it is not paused, and needs no core. */
  waiting: boolean
  done: number
  since: number
  ranMs: number
  /** When it lost its core, or was sent and found none; -1: it has one. */
  pausedAt: number
  /** Its rank among the attempts of its worker, as of the last choice between them. */
  rank: number
  /** The most work that its worker has reported as done. */
  reportedDone: number
  /** The work it is now expected to need, and how much it has done when that is revised. */
  expected: number
  reviseAt: number
  /** Work already counted in its client's share. */
  counted: number
  /** In a function: the expected cold start; 0: the function was warm. */
  coldMs: number
  /** Its time limit: the answer limit on a worker, the function timeout in a function. */
  timer: Entry<Timer> | undefined
  /** Undefined: its worker has not reported how long it was active. */
  watch: Watch | undefined
  /** The ping by which its worker was asked for a sign of life, and when. Undefined: it was not. */
  asked: { ping: number; at: number } | undefined
}

export interface WorkerRecord extends Readonly<WorkerFacts> {
  readonly number: number
  readonly launch: string | undefined
  state: 'ready' | 'draining' | 'terminated'
  /** If the scaler assigns roles. A worker whose role takes no jobs has no slots. */
  readonly role: string | undefined
  /** True: it could not be reached, and has not reported since. It is given no jobs. */
  suspect: boolean
  /** True: since its last report its connection closed, or an attempt could not reach it. */
  unreachable: boolean
  /** Why it is not declared lost although it has been silent for too long. */
  kept: Reason | undefined
  /** Why it is ejected: it is given no jobs until the timer of its ejection fires. */
  ejected: Reason | undefined
  /** Why it drains, if its jobs stood still. */
  stalled: Reason | undefined
  readonly health: Health
  lastSeenAt: number
  /** When it was launched, or joined if nobody launched it. It is paid for from here on. */
  readonly since: number
  /** When it was last given a job. */
  placedAt: number
  /** The sequence number of its newest message. */
  seq: number
  reports: number
  /** The attempts that it holds, running and paused, in order of arrival. */
  jobs: Attempt[]
  /** Attempts of an earlier brain that it holds and that no front has claimed yet. Undefined: none. */
  unclaimed: ReadonlyMap<string, Unclaimed> | undefined
  running: number
  /** The part of a core that each running attempt has: less than 1 if unproven jobs share the cores. */
  pace: number
  /** Predicted memory of its jobs. */
  usedMb: number
  /** As last reported: memory of its slots for small jobs, which the brain does not place. */
  smallMb: number
  /** Undefined: no job waits for the start of a slot. */
  slotStarts: SlotStarts | undefined
  /** Grows with every placement in the cluster: the worker with the smallest was given a job longest ago. Unique. */
  placedStamp: number
  /** The scheduler's own entry for this worker. It is here, and not in a map, to save the lookup. */
  filed: unknown
  /** The job that this worker is reserved for, under policies that reserve workers. */
  keptFor: string | undefined
  /** Jobs whose connections broke here since its last report. If it is lost, each of them may have taken it down. */
  brokenJobs: string[]
  /** The share of its cores that was busy between the last two polls; null: polled less than twice. */
  cpu: number | null
  /** The last reported CPU time, and that of the last poll. */
  cpuReported: CpuReading | null
  cpuPolled: CpuReading | null
  readonly pings: PingState
  /** Fires when it has missed its heartbeats. */
  silenceTimer: Entry<Timer> | undefined
}

/** As its worker reported it at this time. */
export interface Unclaimed extends HeldAttempt {
  at: number
}

export type CpuReading = Record<'ms' | 'at', number>

export function newWorkerRecord(
  facts: WorkerFacts,
  known: Pick<WorkerRecord, 'number' | 'launch' | 'state' | 'since' | 'placedAt' | 'seq' | 'placedStamp'> & {
    role?: string | undefined
  },
): WorkerRecord {
  const { id, cores, workPerSecond, memoryMb, slots } = facts
  return {
    ...{ id, cores, workPerSecond, memoryMb, slots },
    role: undefined,
    ...known,
    suspect: false,
    unreachable: false,
    kept: undefined,
    ejected: undefined,
    stalled: undefined,
    health: newHealth(),
    lastSeenAt: known.placedAt,
    reports: 0,
    jobs: [],
    unclaimed: undefined,
    running: 0,
    pace: 1,
    usedMb: 0,
    smallMb: 0,
    slotStarts: undefined,
    filed: undefined,
    keptFor: undefined,
    brokenJobs: [],
    cpu: null,
    cpuReported: null,
    cpuPolled: null,
    pings: newPingState(),
    silenceTimer: undefined,
  }
}

export interface LaunchRecord {
  readonly id: string
  readonly at: number
  readonly timer: Entry<Timer>
  /** True: an earlier brain launched it. It is expected to join again, and its boot time says nothing. */
  readonly adopted?: true
}

/** True: the worker may be given jobs. */
export function isOpen(worker: WorkerRecord): boolean {
  const { state, suspect, ejected, jobs, slots, unclaimed } = worker
  if (state !== 'ready' || suspect || ejected !== undefined) return false
  if (unclaimed === undefined) return jobs.length < slots
  // How long the unclaimed attempts run, and how much memory they need, is not known: only free cores are used.
  return jobs.length + unclaimed.size < Math.min(slots, worker.cores)
}

/** Removes an item from a short array and keeps the order. Several times as fast as splice, which allocates. */
export function takeOut<T>(items: T[], item: T): void {
  const at = items.indexOf(item)
  if (at < 0) return
  for (let i = at + 1; i < items.length; i++) items[i - 1] = items[i]!
  items.pop()
}

// Written out field by field: a spread makes an object of this size ten times as slow to create.

export function newJobRecord(
  job: Job,
  seq: number,
  now: number,
  prediction: Prediction,
  isAdopted = false,
): JobRecord {
  const { expected, reviseAt } = firstExpectation(prediction)
  return {
    job,
    isAdopted,
    seq,
    arrivedAt: now,
    client: job.client ?? 'anonymous',
    sharer: '',
    expected,
    reviseAt,
    attempt: undefined,
    attempts: 0,
    crashes: 0,
    losses: 0,
    resent: 0,
    stalls: 0,
    retries: 0,
    held: undefined,
    redoneMs: 0,
    excluded: undefined,
    paid: 0,
    spent: 0,
    tier: 0,
    until: 0,
    due: 0,
    aheadMs: 0,
    turn: 'none',
    queued: undefined,
    aside: false,
    awaits: undefined,
    functions: undefined,
    deadlineTimer: undefined,
    slackTimer: undefined,
    turnTimer: undefined,
    queueTimer: undefined,
    patienceTimer: undefined,
    retryTimer: undefined,
  }
}
