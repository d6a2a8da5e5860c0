/** Attempts of a simulated node: their tokens, and the events that end them. */

import type { AttemptToken } from '../model/attempt.ts'
import type { Event } from '../model/event.ts'
import type { SimJob } from './sim-job.ts'

export function tokenOf({ epoch, job, attempt }: AttemptToken): AttemptToken {
  return { epoch, job, attempt }
}

export function keyOf({ epoch, job, attempt }: AttemptToken): string {
  return `${epoch}/${job}/${attempt}`
}

/** Undefined: the attempt crashes the node, which cannot report it. */
export function endOf(job: SimJob, worker: string): (Event & AttemptToken) | undefined {
  const { epoch, job: id, attempt, truth } = job
  switch (truth.fate) {
    case 'ends':
      return { type: 'finished', epoch, job: id, attempt, worker, work: truth.size }
    case 'errs':
      return { type: 'failed', epoch, job: id, attempt, worker, kind: 'error', message: 'bad input' }
    case 'crashes-slot':
      return { type: 'failed', epoch, job: id, attempt, worker, kind: 'crash' }
    case 'crashes-worker':
      return undefined
  }
}
