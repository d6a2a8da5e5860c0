/** The brain's parts, as its rooms hand them to each other. */

import { Heap } from '../lib/heap.ts'
import type { Action } from '../model/action.ts'
import type { Discipline } from '../model/discipline.ts'
import type { Counters } from '../model/view.ts'
import type { Overflow } from './functions/overflow-state.ts'
import type { RateLimits } from './jobs/rate-limit.ts'
import type { Shares } from './jobs/shares.ts'
import { Waiting } from './jobs/waiting.ts'
import type { Billing } from './scale/billing.ts'
import type { Scaler } from './scale/scaler.ts'
import type { Scheduler } from './schedule/scheduler.ts'
import type { JobRecord, LaunchRecord, Timer, WorkerRecord } from './state.ts'
import { Boots } from './workers/boots.ts'
import { Occupancy } from './workers/occupancy.ts'
import { type Listing, newListing } from './workers/reconcile.ts'

/** The brain's constants. All have defaults; see `brainDefaults`. */
export interface BrainLimits {
  /** Most jobs that wait; one more is refused. */
  queue: number
  /** A job that took down this many slots is refused. */
  crashes: number
  /** So is one under which this many slots or workers were lost by other hands: weaker evidence, so more of it. */
  losses: number
  /** Most attempts at one job, whatever ended them. */
  attempts: number
  /** In place of that: most retries on workers, those in functions apart; null: only attempts are bounded. */
  retries: number | null
  /** The longest that an attempt waits in the queue before it is refused; 0: it waits until it is its turn. */
  waitMs: number
  /** How often workers report; 0: the driver alone tells who is lost. */
  beatMs: number
  /** A worker that missed this many reports is lost. */
  missedBeats: number
  /** A worker that has just joined is given this long to report for the first time. */
  freshMs: number
  /** In place of the two above: workers are pinged. Reports, which then come at least as often, are the answers. */
  pings: PingRule | null
  /** Attempts that take too long are sent again, or prove their worker dead. */
  answers: AnswerRule | null
  /** How often it is looked at how busy each worker's cores are; 0: as the scaler wants it. */
  cpuEveryMs: number
  /** After this long a report that does not name an attempt proves that it never arrived. */
  settleMs: number
  /** A launch that has not joined by then has failed. */
  bootMs: number
  /** A provider's list may be so late: what it does not have for longer is gone. */
  listMs: number
  /**
   * A job that has been here so many times as long as it has run, and `turnMs` more, is owed a turn on a core: however
   * wrong its estimate, it is not slowed down by much more than this factor. 0: nobody is owed anything.
   */
  mostSlowdown: number
  turnMs: number
  /** The pause after a failed launch; it doubles with each further failure, up to the second figure. */
  backoffMs: number
  backoffMaxMs: number
}

export interface PingRule {
  everyMs: number
  /** So long after a ping a worker must have been heard of. */
  answerMs: number
  /** So many in a row that are not answered: it is dead. */
  most: number
  /** The same of a worker that has never answered. */
  mostFresh: number
}

export interface AnswerRule {
  /** An attempt is to be answered in so many times as long as its worker should need for all that it has in hand, */
  factor: number
  /** and this long more. */
  leastMs: number
  /** If it is not, the worker must show within so long that it is alive. */
  heartbeatMs: number
}

export const brainDefaults: Readonly<BrainLimits> = {
  queue: 10_000,
  crashes: 3,
  losses: 10,
  attempts: 20,
  retries: null,
  waitMs: 0,
  beatMs: 0,
  missedBeats: 3,
  freshMs: 10_000,
  pings: null,
  answers: null,
  cpuEveryMs: 0,
  settleMs: 2_000,
  bootMs: 300_000,
  listMs: 15_000,
  mostSlowdown: 50,
  turnMs: 10,
  backoffMs: 1_000,
  backoffMaxMs: 60_000,
}

export interface Core {
  readonly epoch: number
  readonly limits: BrainLimits
  readonly scheduler: Scheduler
  readonly scaler: Scaler
  readonly billing: Billing
  /** The most workers that there may be. */
  readonly mostWorkers: number
  readonly discipline: Discipline
  /** Undefined: clients may ask for any amount of work. */
  readonly rateLimits: RateLimits | undefined
  /** Undefined: clients are nothing to the order of jobs. */
  readonly shares: Shares | undefined
  /** Undefined: there are no functions. */
  readonly overflow: Overflow | undefined
  readonly jobs: Map<string, JobRecord>
  readonly workers: Map<string, WorkerRecord>
  readonly launches: Map<string, LaunchRecord>
  readonly waiting: Waiting
  readonly timers: Heap<Timer>
  readonly counters: Counters
  /** Workers in state ready, and those of them whose role takes no jobs. */
  ready: number
  withoutSlots: number
  /** By front: jobs that are here and came in through it, where there are any. */
  readonly through: Map<string, number>
  readonly draining: Set<WorkerRecord>
  /** Of the workers in state ready: their cores, and the work that they do in a second. */
  cores: number
  capacity: number
  /** Of those cores: how many run a job. */
  busyCores: number
  /** How many cores the worker has that joined last. */
  coresEach: number
  readonly occupancy: Occupancy
  readonly boots: Boots
  /** The rate of the fastest worker that there ever was. */
  fastest: number
  /** Jobs that have a deadline. */
  readonly deadlines: Set<JobRecord>
  /** Jobs that are owed a turn, and how many have theirs now. */
  readonly owed: Heap<JobRecord>
  turns: number
  /** No further turn before this time. */
  turnsFrom: number
  /** Sequence numbers handed out so far. */
  seqs: { job: number; worker: number; launch: number; timer: number; placement: number }
  launchFailures: number
  launchNotBefore: number
  /** What the provider said of the fleet. */
  listing: Listing
  /** The wake-up asked for last. */
  wakeAt: number
  /** The event under way: its time, and what it has led to so far. */
  now: number
  /** The scaling policy is to be asked once the event has been dealt with. */
  rescale: boolean
  actions: Action[]
}

export function newCore(
  parts: Pick<
    Core,
    | 'epoch'
    | 'limits'
    | 'scheduler'
    | 'scaler'
    | 'billing'
    | 'mostWorkers'
    | 'discipline'
    | 'rateLimits'
    | 'shares'
    | 'overflow'
  >,
): Core {
  return {
    ...parts,
    jobs: new Map(),
    workers: new Map(),
    launches: new Map(),
    waiting: new Waiting(),
    timers: new Heap(),
    counters: {
      accepted: 0,
      results: 0,
      errors: 0,
      refused: 0,
      unknown: 0,
      cancelled: 0,
      retries: 0,
      superseded: 0,
      dropped: 0,
    },
    ready: 0,
    withoutSlots: 0,
    through: new Map(),
    draining: new Set(),
    cores: 0,
    capacity: 0,
    busyCores: 0,
    coresEach: 1,
    occupancy: new Occupancy(),
    boots: new Boots(),
    fastest: 0,
    deadlines: new Set(),
    owed: new Heap(),
    turns: 0,
    turnsFrom: 0,
    seqs: { job: 0, worker: 0, launch: 0, timer: 0, placement: 0 },
    launchFailures: 0,
    launchNotBefore: 0,
    listing: newListing(),
    wakeAt: Infinity,
    now: 0,
    rescale: false,
    actions: [],
  }
}

/** The launch is over, one way or the other. False: there was none. */
export function endLaunch(core: Core, id: string): boolean {
  const launch = core.launches.get(id)
  if (!launch) return false
  core.timers.remove(launch.timer)
  return core.launches.delete(id)
}

/** Asks to be called at `at` about `timer`. */
export function setTimer(core: Core, timer: Timer, at: number) {
  return core.timers.push(timer, at, ++core.seqs.timer)
}
