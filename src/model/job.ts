/** One request for work, as the brain sees it: small facts, never the body. */
export interface Job {
  id: string
  workload: string
  /** Predicted work, and the interval that bounds 90 % of such jobs. */
  work: number
  low?: number
  high?: number
  /** True: its interval has not been confirmed by enough requests. It shares the cores of its worker and is never paused. */
  unproven?: true
  /** How many times the rate that workers announce its work is done at, as learned. Default 1. */
  speed?: Speed
  /** Predicted peak resident memory. */
  memoryMb: number
  client?: string
  /** Its queue, for policies with several. */
  lane?: string
  /** The front that received it, if the cluster has several. Undefined: the coordinator. */
  front?: string
  deadlineAt?: number
  /** False: started at most once; the worker says `ready` and waits for `go`. Default true. */
  safeToRepeat?: boolean
  /** False: never paused once it runs. Default true. */
  preemptible?: boolean
}

/** `high`: that of the fastest jobs, so that at most 5 % of jobs take less time than `low` of their work at this speed. */
export interface Speed {
  expected: number
  high: number
}

/** Lets a job go before or after others regardless of its remaining work. */
export interface Precedence {
  /** 0; higher for jobs of a client that has exceeded its share. */
  tier: number
  /** The job has its turn until it has done this much work. Jobs that have their turn go in order of `due`, a time. */
  until: number
  due: number
}

/** How a job ended for its client. */
export type Outcome = 'result' | 'error' | 'refused' | 'unknown' | 'dropped'
