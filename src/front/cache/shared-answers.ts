/** Lets several clients who ask the same wait for one job. */

import type { Job } from '../../model/job.ts'
import type { Receiver } from '../receiver.ts'
import { SharedJob, type SharedJobParts, type Waiter } from './shared-job.ts'

/** What several clients asked. */
export interface Computation {
  /** Longer answers are not shared. */
  wholeBytes: number
  /** Has the job computed, for whoever the receiver stands for. */
  start(job: Job, receiver: Receiver): void
  keep: SharedJobParts['keep']
  /** Called once, when nothing more is started. */
  over(): void
}

/** The jobs that others may wait for too, by what was asked. */
export class SharedAnswers {
  readonly #open = new Map<string, SharedJob>()
  readonly #now: () => number
  /** How many were not computed for themselves. */
  shared = 0

  /** `now` is the clock of deadlines. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Waits for a job that began less than `freshMs` ago. False: there is none to wait for. */
  join(key: string, waiter: Waiter, freshMs: number): boolean {
    const job = this.#open.get(key)
    if (!job?.takes(waiter, freshMs)) return false
    job.add(waiter)
    this.shared++
    return true
  }

  /** Starts a job; others may wait for it, unless there is no key. */
  lead(key: string | undefined, waiter: Waiter, computation: Computation): void {
    let users = 0
    const begin = (waiters: readonly Waiter[], wholeBytes: number, isOpen: boolean) => {
      const job = new SharedJob(waiters[0]!, this.#now, wholeBytes, {
        keep: computation.keep,
        closed: () => {
          if (key !== undefined && this.#open.get(key) === job) this.#open.delete(key)
        },
        over: () => {
          if (--users === 0) computation.over()
        },
        again: (others) => begin(others, wholeBytes, isOpen),
        alone: (other) => begin([other], other.client.wholeBytes, false),
      })
      users++
      for (const each of waiters) job.add(each)
      if (key !== undefined && isOpen) this.#open.set(key, job)
      computation.start(job.job, job)
    }
    begin([waiter], computation.wholeBytes, true)
  }
}
