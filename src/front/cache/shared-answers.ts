/** Request coalescing: clients with equal requests share one job. */

import type { Job } from '../../model/job.ts'
import { type Receiver, wholeBytes } from '../receiver.ts'
import { SharedJob, type SharedJobParts, type Waiter } from './shared-job.ts'

/** The computation of one answer, by one job or several. */
export interface Computation {
  /** Larger answers are not shared. */
  mostBytes: number
  /** Submits a job whose answer goes to the receiver. */
  start(job: Job, receiver: Receiver): void
  keep: SharedJobParts['keep']
  /** Called once, after the last job has ended. */
  ended(): void
}

/** Jobs that further requests may join, by key. */
export class SharedAnswers {
  readonly #open = new Map<string, SharedJob>()
  readonly #now: () => number
  /** Requests that joined the job of another. */
  shared = 0

  /** `now` is the clock of deadlines. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Joins a job that began less than `freshMs` ago. False: there is none. */
  join(key: string, waiter: Waiter, freshMs: number): boolean {
    const job = this.#open.get(key)
    if (!job?.takes(waiter, freshMs)) return false
    job.add(waiter)
    this.shared++
    return true
  }

  /** Starts a job. Further requests may join it if it has a key. */
  lead(key: string | undefined, waiter: Waiter, computation: Computation): void {
    let users = 0
    const begin = (waiters: readonly Waiter[], mostBytes: number, isOpen: boolean) => {
      const job = new SharedJob(waiters[0]!, this.#now, mostBytes, {
        keep: computation.keep,
        closed: () => {
          if (key !== undefined && this.#open.get(key) === job) this.#open.delete(key)
        },
        ended: () => {
          if (--users === 0) computation.ended()
        },
        again: (others) => begin(others, mostBytes, isOpen),
        alone: (other) => begin([other], wholeBytes, false),
      })
      users++
      for (const each of waiters) job.add(each)
      if (key !== undefined && isOpen) this.#open.set(key, job)
      computation.start(job.job, job)
    }
    begin([waiter], computation.mostBytes, true)
  }
}
