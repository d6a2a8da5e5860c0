/** One request for work, as the brain sees it: small facts, never the body. */
export interface Job {
  id: string
  workload: string
  /** Predicted work, and the interval that bounds 90 % of such jobs. */
  work: number
  low?: number
  high?: number
  /** Predicted peak resident memory. */
  memoryMb: number
  client?: string
  /** Which of several queues it belongs in, for policies that have more than one. */
  lane?: string
  /** The node that it came in through, where there are several fronts. Undefined: the coordinator. */
  front?: string
  deadlineAt?: number
  /** False: started at most once; the worker says `ready` and waits for `go`. Default true. */
  safeToRepeat?: boolean
  /** False: once it runs it is not paused. Default true. */
  preemptible?: boolean
}

/** What lets a job go before others, or after them, whatever is left of it. */
export interface Precedence {
  /** 0, or more for a job of a client that has had more than its share. */
  tier: number
  /** Until it has done so much work it goes before all others, among its like in order of `due`, a time. */
  until: number
  due: number
}

/** How a job ended for its client. */
export type Outcome = 'result' | 'error' | 'refused' | 'unknown' | 'dropped'
