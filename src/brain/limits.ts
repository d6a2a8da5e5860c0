/** The brain's constants. */

export interface BrainLimits {
  /** Maximum queue length; further jobs are rejected. */
  queue: number
  /** A job whose attempts took down this many slots is rejected. */
  crashes: number
  /** A job is also rejected after this many attempts whose slot or worker was lost: weaker evidence, so more of it. */
  losses: number
  /** Maximum number of attempts at one job. */
  attempts: number
  /** Maximum number of retries on workers; attempts in functions do not count. Null: only `attempts` is a bound. */
  retries: number | null
  /** Queue timeout of one attempt; 0: none. */
  waitMs: number
  /** The interval of workers' heartbeats; 0: workers send none, and only the driver declares workers lost. */
  beatMs: number
  /** A worker that missed this many heartbeats is lost. */
  missedBeats: number
  /** The time allowed for a new worker's first heartbeat. */
  freshMs: number
  /** Replaces the two rules above: workers are pinged. Heartbeats, which come at least as often, are the answers. */
  pings: PingRule | null
  /** Attempts that exceed their time limit are sent again, or prove their worker lost. */
  answers: AnswerRule | null
  /** The interval of CPU polls; 0: as the scaler wants. */
  cpuEveryMs: number
  /** From this age on, an attempt that a worker's report does not name has never arrived. */
  settleMs: number
  /** A launch that has not joined after this time has failed. */
  bootMs: number
  /** A provider's list may be this late. A launch that lists have missed for longer is gone. */
  listMs: number
  /**
   * A job that has been here this many times as long as it has run, plus `turnMs` each, is owed a turn on a core. So its
   * slowdown stays near this factor, however wrong its estimate. 0: no turns.
   */
  mostSlowdown: number
  turnMs: number
  /** The pause after a failed launch. It doubles with each failure in a row, up to `backoffMaxMs`. */
  backoffMs: number
  backoffMaxMs: number
}

export interface PingRule {
  everyMs: number
  /** The time allowed for the answer to a ping. */
  answerMs: number
  /** A worker that leaves this many pings in a row unanswered is lost. */
  most: number
  /** The same for a worker that has never answered. */
  mostFresh: number
}

/** An attempt's time limit is `leastMs + factor × the time that its worker needs for all its jobs`. */
export interface AnswerRule {
  factor: number
  leastMs: number
  /** A worker whose attempt exceeds its limit must report within this time, or is lost. */
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
