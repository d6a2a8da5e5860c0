/** What the brain remembers: jobs, workers, launches and counters. Plain records; the rooms around it act. */

import type { Entry } from '../lib/heap.ts'
import { noPrecedence } from '../model/discipline.ts'
import type { Job, Precedence } from '../model/job.ts'
import { firstStanding, type Said } from '../model/revision.ts'
import type { WorkerFacts } from '../model/worker.ts'

export interface JobRecord extends Precedence {
  readonly job: Job
  /** Order of arrival; also the tie in every queue. */
  readonly seq: number
  readonly arrivedAt: number
  readonly preemptible: boolean
  /** Who asked for it. Jobs of nobody in particular are those of one client. */
  readonly client: string
  /** Attempts begun so far; the current one while `worker` is set. */
  attempt: number
  worker: WorkerRecord | undefined
  /** When the current attempt was sent. */
  sentAt: number
  /** Permission to start was given to an attempt that must not be repeated. */
  committed: boolean
  /** Attempts that took their slot down, and attempts whose slot or worker was lost under them. */
  crashes: number
  losses: number
  /** Workers that failed this job. */
  excluded: Set<string> | undefined
  /** The mirror of the worker's discipline: does it run, how much was done at `since`, what is it now taken to need. */
  running: boolean
  done: number
  since: number
  /** How long the current attempt had had a core by `since`. */
  ranMs: number
  /** When the current attempt lost its core, or was sent and found none; -1: it has one. */
  pausedAt: number
  /** The most that its worker has said to be done of the current attempt. */
  saidDone: number
  expected: number
  /** When it has done this much, that is thought over. */
  reviseAt: number
  /** What its client has paid for it, and the work that attempts which are over have done. */
  paid: number
  spent: number
  /** Of what the current attempt has done, so much is counted in its client's share. */
  counted: number
  /** Where it goes first, until it has had so much time on a core: `until` is that as work of its worker. */
  aheadMs: number
  /** It has waited so long that it is owed a turn on a core, or has one. */
  turn: 'none' | 'owed' | 'taken'
  /** A launch that was made for it. */
  awaits: string | undefined
  /** What came to nothing in a function is for the fleet. */
  fleetOnly: boolean
  /** Attempts in functions so far; while it waits for the next of them, when that is to be, else 0. */
  awayTries: number
  awayAt: number
  /** In a function: how long that was expected to take to start. */
  coldMs: number
  /** What counts of it in the backlog. */
  weight: number
  /** Places in the queue and among the timers. */
  queued: Entry<JobRecord> | undefined
  deadline: Entry<Timer> | undefined
  slack: Entry<Timer> | undefined
  /** It waits for a core that is about to be free, until then. */
  patience: Entry<Timer> | undefined
  age: Entry<Timer> | undefined
  /** It waits in the queue, and is refused then. */
  waited: Entry<Timer> | undefined
  /** It is in a function, which is given up then. */
  away: Entry<Timer> | undefined
  /** The current attempt must be answered by then; or, if it was not, its worker must show that it is alive. */
  answer: Entry<Timer> | undefined
  /** When its worker was asked whether it is alive; -1: it was not. How often attempts were sent again because it was. */
  askedAt: number
  resent: number
  /** The last report of its worker that named it. */
  seenIn: number
  /** The answer of the current attempt has begun to come. */
  answering: boolean
}

export interface WorkerRecord extends Readonly<WorkerFacts> {
  readonly number: number
  readonly launch: string | undefined
  state: 'ready' | 'draining' | 'gone'
  /** Where the scaler assigns roles. A worker whose role takes no jobs has no slots. */
  readonly role: string | undefined
  /** Not reached at the last try, and not heard of since. */
  suspect: boolean
  heardAt: number
  /** When it was launched, or joined where nobody launched it: what it costs is counted from here. */
  readonly since: number
  /** When it was last given a job. */
  placedAt: number
  /** The newest message that counted. */
  seq: number
  reports: number
  /** Jobs in its hands, in order of arrival there. */
  jobs: JobRecord[]
  running: number
  /** Memory that its jobs are predicted to need. */
  usedMb: number
  /** Grows with every placement in the cluster; smaller means placed on longer ago. Unique among workers. */
  placedStamp: number
  /** Where the scheduler has filed it: the scheduler's own. Here rather than in a map, to be found without a search. */
  filed: unknown
  /** A job that waits for it to be empty, under policies that keep workers for some: others are not sent there. */
  keptFor: string | undefined
  /** Jobs whose attempts broke off here. If it turns out to be gone, each of them may have taken it down. */
  brokeOff: string[]
  /** The share of its cores that was busy between the last two polls; null: not known yet. */
  cpu: number | null
  /** CPU time as it was said last, and at the last poll. */
  cpuSaid: CpuSaid | null
  cpuPolled: CpuSaid | null
  /** Where workers are pinged: when that was done last, and how many in a row it has not answered. */
  pingedAt: number
  unanswered: number
  /** Its place among the timers, where reports or answers to pings are expected. */
  silence: Entry<Timer> | undefined
}

export interface CpuSaid {
  ms: number
  at: number
}

/** A worker of which nothing is known but what it said of itself, or was said of it. */
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
    heardAt: known.placedAt,
    reports: 0,
    jobs: [],
    running: 0,
    usedMb: 0,
    filed: undefined,
    keptFor: undefined,
    brokeOff: [],
    cpu: null,
    cpuSaid: null,
    cpuPolled: null,
    pingedAt: 0,
    unanswered: 0,
    silence: undefined,
  }
}

export interface LaunchRecord {
  readonly id: string
  readonly at: number
  readonly timer: Entry<Timer>
}

/** What a timer is about. */
export interface Timer {
  kind: TimerOfJob | 'turns' | 'share' | 'silence' | 'launch' | 'scale' | 'cpu' | 'overflow'
  id: string
}

type TimerOfJob = (typeof timersOfJobs)[number]

const timersOfJobs = ['deadline', 'slack', 'patience', 'age', 'waited', 'away', 'answer'] as const
const ofJobs: ReadonlySet<string> = new Set(timersOfJobs)

/** True: the timer is a job's, which has it under that name, and goes with it. */
export function isOfJob(kind: Timer['kind']): kind is TimerOfJob {
  return ofJobs.has(kind)
}

/** True while the worker may be given jobs at all. */
export function isOpen(worker: WorkerRecord): boolean {
  return worker.state === 'ready' && !worker.suspect && worker.jobs.length < worker.slots
}

/** Removes an item from a short array and keeps the order. Several times as fast as splice, which makes an array. */
export function takeOut<T>(items: T[], item: T): void {
  const at = items.indexOf(item)
  if (at < 0) return
  for (let i = at + 1; i < items.length; i++) items[i - 1] = items[i]!
  items.pop()
}

/** `said`: what is believed of its work. */
export function newJobRecord(job: Job, seq: number, now: number, said: Said = job): JobRecord {
  return {
    job,
    seq,
    arrivedAt: now,
    preemptible: job.preemptible ?? true,
    client: job.client ?? 'anonymous',
    counted: 0,
    attempt: 0,
    worker: undefined,
    sentAt: 0,
    committed: false,
    crashes: 0,
    losses: 0,
    excluded: undefined,
    running: false,
    done: 0,
    since: 0,
    ranMs: 0,
    pausedAt: -1,
    saidDone: 0,
    ...firstStanding(said),
    paid: 0,
    spent: 0,
    ...noPrecedence,
    aheadMs: 0,
    turn: 'none',
    awaits: undefined,
    fleetOnly: false,
    awayTries: 0,
    awayAt: 0,
    coldMs: 0,
    weight: 0,
    queued: undefined,
    deadline: undefined,
    slack: undefined,
    patience: undefined,
    age: undefined,
    waited: undefined,
    away: undefined,
    answer: undefined,
    askedAt: -1,
    resent: 0,
    seenIn: 0,
    answering: false,
  }
}
