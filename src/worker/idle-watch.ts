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
/** A job that runs again after a pause is read at the earliest after this time. */
const leastMs = 1
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
  timer: NodeJS.Timeout | undefined
  /** When it began to wait. */
  since: number
}

export class IdleWatch<W extends Watched> {
  readonly #samples = new Map<W, Sample>()
  /** Of paused jobs, with the time that they ran since. Else one that is paused every few milliseconds would never be read. */
  readonly #paused = new WeakMap<W, { sample: Sample; ranMs: number }>()
  readonly #changed: (job: W, waiting: boolean) => void
  readonly #now: () => number

  constructor(changed: (job: W, waiting: boolean) => void, now = () => performance.now()) {
    this.#changed = changed
    this.#now = now
  }

  /** The job runs from now on. Idempotent. */
  add(job: W): void {
    if (this.#samples.has(job) || !job.run?.demandMs) return
    const { sample: before, ranMs = 0 } = this.#paused.get(job) ?? {}
    const at = this.#now() - ranMs
    const { demandMs, runnable = false } = before ?? {}
    const sample: Sample = { at, demandMs, runnable, timer: undefined, since: at }
    this.#samples.set(job, sample)
    if (demandMs !== undefined) this.#plan(job, sample, job.waiting, Math.max(leastMs, idleMs - ranMs))
    else sample.timer = setTimeout(() => this.#begin(job), Math.max(leastMs, firstMs - ranMs)).unref()
  }

  /** The job is paused or has ended. Idempotent. */
  remove(job: W): void {
    const sample = this.#samples.get(job)
    if (!sample) return
    clearTimeout(sample.timer)
    this.#samples.delete(job)
    this.#paused.set(job, { sample, ranMs: this.#now() - sample.at })
  }

  #begin(job: W): void {
    const sample = this.#sample(job)
    this.#samples.set(job, sample)
    this.#plan(job, sample, job.waiting, idleMs - firstMs)
  }

  #check(job: W): void {
    const before = this.#samples.get(job)!
    const sample = this.#sample(job)
    const waiting = isWaiting(job.waiting, before, sample, () => job.run!.isRunnable?.() ?? false)
    const hasChanged = waiting !== job.waiting
    if (!hasChanged) sample.since = before.since
    this.#samples.set(job, sample)
    if (hasChanged) this.#changed(job, waiting)
    // The job may have been paused because of the change.
    if (this.#samples.get(job) === sample) this.#plan(job, sample, waiting)
  }

  #sample(job: W): Sample {
    const at = this.#now()
    return { at, demandMs: job.run!.demandMs!(), runnable: false, timer: undefined, since: at }
  }

  #plan(job: W, sample: Sample, waiting: boolean, runningMs = idleMs): void {
    const waitedMs = sample.at - sample.since
    const nextMs = waiting ? Math.min(maxWakeMs, Math.max(wakeMs, waitedMs * wakePart)) : runningMs
    sample.timer = setTimeout(() => this.#check(job), nextMs).unref()
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
