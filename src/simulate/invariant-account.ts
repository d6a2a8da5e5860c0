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
