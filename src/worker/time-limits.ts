/** Ends jobs that run longer than they may. Pauses do not count, and streams and WebSockets only have to stay active. */
import { span } from '../lib/quantities.ts'
import type { JobRun } from './job-run.ts'

export interface Limited {
  readonly head: { readonly workload: string }
  readonly run: Pick<JobRun, 'moved' | 'exceed'> | undefined
}

interface Clock {
  ranMs: number
  since: number
  timer: NodeJS.Timeout | undefined
}

/** Node fires longer timers at once. */
const longestTimerMs = 2 ** 31 - 1

export class TimeLimits<J extends Limited> {
  readonly #limitMs: (workload: string) => number
  readonly #now: () => number
  readonly #clocks = new Map<J, Clock>()

  /** `limitMs` of a workload; Infinity: none. */
  constructor(limitMs: (workload: string) => number, now = () => performance.now()) {
    this.#limitMs = limitMs
    this.#now = now
  }

  /** The job runs from now on. */
  start(job: J): void {
    const limitMs = this.#limitMs(job.head.workload)
    if (limitMs === Infinity) return
    const clock = this.#clocks.get(job) ?? { ranMs: 0, since: 0, timer: undefined }
    this.#clocks.set(job, clock)
    clock.since = this.#now()
    clearTimeout(clock.timer)
    const leftMs = Math.max(0, limitMs - clock.ranMs)
    clock.timer = setTimeout(() => this.#check(job, limitMs), Math.min(longestTimerMs, leftMs)).unref()
  }

  pause(job: J): void {
    const clock = this.#clocks.get(job)
    if (!clock) return
    clearTimeout(clock.timer)
    clock.ranMs += this.#now() - clock.since
  }

  /** The job has ended. */
  delete(job: J): void {
    clearTimeout(this.#clocks.get(job)?.timer)
    this.#clocks.delete(job)
  }

  #check(job: J, limitMs: number): void {
    this.pause(job)
    const clock = this.#clocks.get(job)!
    // Timers may fire a moment early.
    const isOver = clock.ranMs >= limitMs - 1
    if (isOver && job.run?.moved()) clock.ranMs = 0
    else if (isOver)
      return job.run?.exceed(`time limit: the job ran for ${span(limitMs)} without an end`, { status: 504 })
    this.start(job)
  }
}
