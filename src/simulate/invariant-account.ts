/** What the invariants know about jobs and workers, gathered from events and actions alone. */

import { InvariantError } from '../lib/errors.ts'

export interface Watched {
  /** The latest attempt; 0 before the first. */
  attempt: number
  /** The worker or function of the latest attempt. Undefined: the job is queued. */
  worker: string | undefined
  /** True: `worker` is a function. */
  away: boolean
  /** On a worker, without a core. */
  paused: boolean
  memoryMb: number
  safeToRepeat: boolean
  /** True: an earlier brain began its attempt. Its worker may not have joined this one. */
  adopted: boolean
}

export interface WatchedWorker {
  jobs: Set<string>
  slots: number
  memoryMb: number
  draining: boolean
  ejected: boolean
  role?: string
}

export interface Account {
  /** Jobs without an answer whose clients have not hung up. */
  live: ReadonlyMap<string, Watched>
  workers: ReadonlyMap<string, WatchedWorker>
}

export function fail(message: string): void {
  throw new InvariantError(message)
}

/** Counts for the summary of a run. */
export function newTally() {
  return {
    answers: 0,
    hungUp: 0,
    dropped: 0,
    /** Jobs dropped after their queue timeout. */
    late: 0,
    /** Assigned roles, and denied requests to leave. */
    roles: 0,
    stays: 0,
    ranked: 0,
    launches: 0,
    givenUp: 0,
    strangers: 0,
    drained: 0,
    adopted: 0,
    away: 0,
    awayFailed: 0,
    /** Pauses of the brain, silent workers that were not declared lost, and ejected workers. */
    pauses: 0,
    held: 0,
    ejected: 0,
    /** Jobs shed under pressure. */
    shed: 0,
  }
}
