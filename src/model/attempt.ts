/** Identifies one attempt at a job. A message with an older token than the brain's is superseded. */
export interface AttemptToken {
  epoch: number
  job: string
  attempt: number
}

/** An attempt in a worker's report. */
export interface HeldAttempt extends AttemptToken {
  /** Work done so far, if the worker knows it better than the brain can extrapolate. */
  done?: number
  /** It waits for input or output. */
  waiting?: true
  /**
   * Time so far in which it had a core, or its part of one, and was ready to use it; and the CPU time that it used. Undefined:
   * not known, or it has not run for long.
   */
  activeMs?: number
  cpuMs?: number
}

/** An attempt that an earlier brain began and that goes on, as the front that waits for it describes it. */
export interface Ongoing {
  worker: string
  epoch: number
  attempt: number
  /** It must not be repeated, and may have started. */
  committed?: true
  /** Its answer has begun to arrive. */
  answering?: true
}

/** Why an attempt ended without a result. */
export type FailureKind =
  /** The workload's own error: the client's answer, not retried. */
  | 'error'
  /** The job exceeded its own limit of memory or time: the client's answer, not retried. */
  | 'limit'
  /** The job used more CPU time than its client allows: the client's answer, not retried. */
  | 'cost-limit'
  /** The job crashed its slot. */
  | 'crash'
  /** The kernel or an operator killed its slot. */
  | 'killed'
  /** The worker had no healthy program for it. */
  | 'unready'
  /** The worker could not be reached. */
  | 'unreachable'
  /** The worker rejected it. */
  | 'refused'
  /** No function was available (429). */
  | 'throttled'
  /** The function reached its time limit. */
  | 'timeout'
