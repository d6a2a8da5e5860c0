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
  /** Retries back off, and have a budget. Null: a job is retried at once. */
  retryPauses: RetryRule | null
  /** Queue timeout of one attempt; 0: none. */
  waitMs: number
  /** The interval of workers' heartbeats; 0: workers send none, and only the driver declares workers lost. */
  beatMs: number
  /** A worker that missed this many heartbeats is lost. 0: none is lost for that. */
  missedBeats: number
  /** The time allowed for a new worker's first heartbeat. */
  freshMs: number
  /** Replaces the two rules above: workers are pinged. */
  pings: PingRule | null
  /** Limits the share of the workers that is lost at once for missed heartbeats alone. Null: no limit. */
  silentLosses: SilentLossRule | null
  /** Workers that fail, or are slow beside the others, are ejected for a while. Null: never. */
  outliers: OutlierRule | null
  /** Attempts that stand still are tried elsewhere, and their workers replaced. Null: never. */
  stalls: StallRule | null
  /** Attempts that exceed their time limit have failed, or prove their worker lost. Null: they have none. */
  answers: AnswerRule | null
  /** The interval of CPU polls; 0: as the scaler wants. */
  cpuEveryMs: number
  /** True: CPU figures are read elsewhere, such as from a cloud's monitoring, in place of the workers' own reports. */
  cpuReadings: boolean
  /** From this age on, an attempt that a worker's report does not name has never arrived. */
  settleMs: number
  /** How long a new brain waits for fronts to claim the attempts of an earlier one; 0: it ends them at once. */
  recoverMs: number
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
  /**
   * A worker whose attempt exceeds its limit, or that cannot be reached, is pinged. If it answers within this time, it gets
   * the attempt again; else it is lost. Undefined: it is not asked, and the job is placed again.
   */
  heartbeatMs?: number
  /** True: the job is placed on another worker. */
  excludes?: boolean
  /** A connection to the worker must be there within `leastMs + factor × the time that the job should need`. Default: 10 s. */
  connecting?: { leastMs: number; factor: number }
}

export interface SilentLossRule {
  /** If more than this share of the workers is silent at once, none of them is lost for its silence alone. */
  share: number
  /** After this many times the usual silence they are, each time no more than the share, or a single one. */
  patience: number
}

export interface OutlierRule {
  /** Attempts in a row that failed at a worker, and whose jobs were then finished elsewhere, eject it. */
  failures: number
  /** Answers in a row that are errors of the workload eject a worker if most other workers give results. */
  errors: number
  /** A worker is slow if three quarters of its jobs took this many times as long as the median of the others. */
  slowdown: number
  /** Workers are compared at most once in this time. */
  everyMs: number
  /** The first ejection takes this time, the second twice as long and so on, up to `mostMs`. */
  baseMs: number
  mostMs: number
  /** The largest share of the workers that is ejected at a time. */
  share: number
}

export interface RetryRule {
  /** Retries may make up this share of the admitted work, and always this much: time of a core. */
  share: number
  leastMs: number
  /** A job counts as this much at most. */
  mostMs: number
  /** What was admitted and retried counts half after this time. */
  halfMs: number
  /** The pause before the second retry of a job. It doubles with each further one, up to `pauseMaxMs`. */
  pauseMs: number
  pauseMaxMs: number
}

export interface StallRule {
  /** An attempt that has done less than `share` of what it should do in this time stands still. Its pauses and waits do not count. */
  afterMs: number
  share: number
  /** A job whose attempts stood still this many times fails; one that is only slow is then left alone. */
  attempts: number
  /** The largest share of the workers that is drained in `forgetMs`. A single one that was launched always may be. */
  workers: number
  forgetMs: number
  /** If most other workers stand still, too, attempts are given this many times the time. */
  patience: number
}

export const brainDefaults: Readonly<BrainLimits> = {
  queue: 10_000,
  crashes: 3,
  losses: 10,
  attempts: 20,
  retries: null,
  retryPauses: null,
  waitMs: 0,
  beatMs: 0,
  missedBeats: 3,
  freshMs: 10_000,
  pings: null,
  silentLosses: null,
  outliers: null,
  stalls: null,
  answers: null,
  cpuEveryMs: 0,
  cpuReadings: false,
  settleMs: 2_000,
  recoverMs: 0,
  bootMs: 300_000,
  listMs: 15_000,
  mostSlowdown: 50,
  turnMs: 10,
  backoffMs: 1_000,
  backoffMaxMs: 60_000,
}

/** The values of `plimsoll up`. Envoy's are the same, but it ejects 10 % of the hosts, and never for being slow. */
export const usualOutliers: Readonly<OutlierRule> = {
  ...{ failures: 5, errors: 20, slowdown: 3, everyMs: 5_000, baseMs: 30_000, mostMs: 300_000, share: 0.5 },
}

/** The values of `plimsoll up`. */
export const usualStalls: Readonly<StallRule> = {
  ...{ afterMs: 60_000, share: 0.1, attempts: 3, workers: 0.5, forgetMs: 600_000, patience: 3 },
}

/** The values of `plimsoll up`. */
export const usualRetryPauses: Readonly<RetryRule> = {
  ...{ share: 0.2, leastMs: 10_000, mostMs: 10_000, halfMs: 60_000, pauseMs: 100, pauseMaxMs: 10_000 },
}

/** The limit of silent losses of live clusters. */
export const usualSilentLosses: Readonly<SilentLossRule> = { share: 0.5, patience: 3 }
