/** Names one try at a job. A message that carries an older token than the brain holds is superseded. */
export interface AttemptToken {
  epoch: number
  job: string
  attempt: number
}

/** An attempt that a worker has in its hands, as it reports it. */
export interface HeldAttempt extends AttemptToken {
  /** Work done so far, where the worker knows better than the brain can extrapolate. */
  done?: number
}

/** Why an attempt ended without a result. */
export type FailureKind =
  /** The workload's own error: the client's answer, not retried. */
  | 'error'
  /** The job outgrew a bound of its own (memory, time): the client's answer, not retried. */
  | 'limit'
  /** The job took its slot down. */
  | 'crash'
  /** Something from outside took its slot down: the kernel, or an operator. */
  | 'killed'
  /** The worker had nothing to run it with: its program was not well. */
  | 'unready'
  /** The worker could not be reached. */
  | 'unreachable'
  /** The worker would not take it. */
  | 'refused'
  /** Of a function: it has no room for more just now (429). */
  | 'throttled'
  /** Of a function: it ran as long as a function may. */
  | 'timeout'
