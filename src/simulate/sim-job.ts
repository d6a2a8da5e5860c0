/** An attempt on a simulated worker. */

import type { Entry } from '../lib/heap.ts'
import type { AttemptToken } from '../model/attempt.ts'
import { noPrecedence, type Runnable } from '../model/discipline.ts'
import type { Precedence } from '../model/job.ts'
import { firstExpectation } from '../model/revision.ts'
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
  /** Work done when it was last started or paused. */
  done: number
  /** While running: done = base + the worker's `each`. */
  base: number
  /** The same for the time that it had a core, or its part of one. */
  active: number
  activeBase: number
  place: Entry<SimJob>
}

export function newSimJob(token: AttemptToken, truth: Truth, precedence = noPrecedence): SimJob {
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
    unproven: asked.unproven ?? false,
    place: undefined as unknown as Entry<SimJob>,
  }
  job.place = { item: job, at: -1 }
  return job
}
