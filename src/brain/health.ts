/** What the detection of outliers and of stalled attempts remembers of a worker. */

import type { Entry } from '../lib/heap.ts'
import type { Timer } from './timer.ts'

/** How the attempts of a worker went lately. */
export interface Health {
  /** Attempts in a row that failed here, and whose jobs another worker or a function finished. */
  failures: number
  /** Answers in a row that were errors of the workload. */
  errors: number
  /** When the first of them arrived, and when its last result did. */
  erringSince: number
  resultAt: number
  /** Times of jobs on a core, divided by the time that their measured work takes, and by their estimates. */
  byWork: number[]
  byEstimate: number[]
  /** Ejections so far; good times reduce the number. */
  ejections: number
  /** When its last ejection ended. */
  readmittedAt: number
  ejectionTimer: Entry<Timer> | undefined
  /** When a job last ended or was seen to advance there. */
  progressedAt: number
}

export function newHealth(): Health {
  return {
    ...{ failures: 0, errors: 0, erringSince: 0, resultAt: -Infinity, byWork: [], byEstimate: [] },
    ...{ ejections: 0, readmittedAt: 0, ejectionTimer: undefined },
    progressedAt: -Infinity,
  }
}
