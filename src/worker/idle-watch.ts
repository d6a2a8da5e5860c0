/**
 * Notices running jobs that wait for input or output, and jobs that compute again. A job whose threads are neither on a
 * core nor in the queue for one does not occupy a core.
 */
import type { JobRun } from './job-run.ts'

/** A job is first read this long after its start. Shorter jobs cost nothing here. */
const firstMs = 10
/** A running job that used less than `idleShare` of the time between two readings waits. */
const idleMs = 50
export const idleShare = 0.05
/** A waiting job that uses more than `busyShare` of this time computes. */
const wakeMs = 25
const busyShare = 0.25
/** A check costs up to half a millisecond, so a job that has waited long is checked less often. */
const maxWakeMs = 250
const wakePart = 1 / 8

export interface Watched {
  readonly waiting: boolean
  readonly run: JobRun | undefined
}

interface Sample {
  at: number
  demandMs: number | undefined
  runnable: boolean
  timer: NodeJS.Timeout
  /** When it began to wait. */
  since: number
}

export class IdleWatch<W extends Watched> {
  readonly #samples = new Map<W, Sample>()
  readonly #changed: (job: W, waiting: boolean) => void
  readonly #now: () => number

  constructor(changed: (job: W, waiting: boolean) => void, now = () => performance.now()) {
    this.#changed = changed
    this.#now = now
  }

  /** The job runs from now on. Idempotent. */
  add(job: W): void {
    if (this.#samples.has(job) || !job.run?.demandMs) return
    const at = this.#now()
    const timer = setTimeout(() => this.#sample(job, at, idleMs - firstMs), firstMs).unref()
    this.#samples.set(job, { at, demandMs: undefined, runnable: false, timer, since: at })
  }

  /** The job is paused or has ended. Idempotent. */
  remove(job: W): void {
    clearTimeout(this.#samples.get(job)?.timer)
    this.#samples.delete(job)
  }

  #check(job: W): void {
    const before = this.#samples.get(job)!
    const sample = this.#sample(job, before.since, this.#nextMs(job, before.since))
    const waiting = isWaiting(job.waiting, before, sample, () => job.run!.isRunnable?.() ?? false)
    if (waiting === job.waiting) return
    sample.since = sample.at
    this.#changed(job, waiting)
  }

  #nextMs({ waiting }: W, since: number): number {
    return waiting ? Math.min(maxWakeMs, Math.max(wakeMs, (this.#now() - since) * wakePart)) : idleMs
  }

  #sample(job: W, since: number, waitMs: number): Sample {
    const at = this.#now()
    const timer = setTimeout(() => this.#check(job), waitMs).unref()
    const sample = { at, demandMs: job.run!.demandMs!(), runnable: false, timer, since }
    this.#samples.set(job, sample)
    return sample
  }
}

/** Sets `sample.runnable`, which is asked for only where it matters. */
export function isWaiting(
  waits: boolean,
  before: Pick<Sample, 'at' | 'demandMs' | 'runnable'>,
  sample: Pick<Sample, 'at' | 'demandMs' | 'runnable'>,
  isRunnable: () => boolean,
): boolean {
  if (before.demandMs === undefined || sample.demandMs === undefined) return false
  const share = (sample.demandMs - before.demandMs) / (sample.at - before.at)
  if (waits && share > busyShare) return false
  if (!waits && share >= idleShare) return false
  sample.runnable = isRunnable()
  // A thread that gets no core uses no time. A waiting job is runnable for a moment when a timer fires: twice counts.
  return waits ? !(sample.runnable && before.runnable) : !sample.runnable
}
