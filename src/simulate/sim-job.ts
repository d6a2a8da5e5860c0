/** An attempt on a simulated worker. */

import type { Entry } from '../lib/heap.ts'
import type { Action } from '../model/action.ts'
import type { AttemptToken } from '../model/attempt.ts'
import { noPrecedence, type Runnable, shareOf } from '../model/discipline.ts'
import type { Precedence } from '../model/job.ts'
import { firstExpectation } from '../model/revision.ts'
import type { WorkerFacts } from '../model/worker.ts'
import type { Happening } from './clock.ts'
import type { Truth } from './environment.ts'

export interface SimJob extends Runnable, AttemptToken, Precedence {
  truth: Truth
  waiting: boolean
  /** The work done at which it waits for input or output; Infinity: it does not wait any more. */
  waitAt: number
  /** Ends its wait. */
  wake: Happening | undefined
  /** Its true work. */
  size: number
  /** Its expected total work, and the work done at which that is revised. */
  expected: number
  reviseAt: number
  sharesUntil: number
  /** Work done when it was last started or paused. */
  done: number
  /** While running: done = base + the worker's `each`. */
  base: number
  /** The same for the time that it had a core, or its part of one. */
  active: number
  activeBase: number
  place: Entry<SimJob>
}

/** `early`: a precedence that came before the attempt. */
export function newSimJob(
  token: Extract<Action, { type: 'run' }>,
  truth: Truth,
  { workPerSecond }: WorkerFacts,
  early?: Precedence,
): SimJob {
  const precedence = early ?? token.precedence ?? noPrecedence
  const { job: asked, fate, size, wait } = truth
  const { expected, reviseAt } = firstExpectation(asked)
  const job = {
    epoch: token.epoch,
    job: token.job,
    attempt: token.attempt,
    truth,
    // A job that crashes its slot or worker does so half-way.
    size: fate === 'ends' ? size : size / 2,
    tier: precedence.tier,
    until: precedence.until,
    due: precedence.due,
    expected,
    reviseAt,
    done: 0,
    base: 0,
    active: 0,
    activeBase: 0,
    running: false,
    waiting: false,
    waitAt: wait ? wait.part * (fate === 'ends' ? size : size / 2) : Infinity,
    wake: undefined,
    rank: 0,
    preemptible: asked.preemptible ?? true,
    sharesUntil: shareOf(asked, workPerSecond),
    place: undefined as unknown as Entry<SimJob>,
  }
  job.place = { item: job, at: -1 }
  return job
}
