/** The brain's picture of what each worker is running, by the discipline that the worker itself obeys. */

import type { Core } from './core.ts'
import type { JobRecord, WorkerRecord } from './state.ts'

/** Work that a job is still expected to need. */
export function remainingWork(record: JobRecord, now: number): number {
  return Math.max(0, record.expected - doneWork(record, now))
}

/** Work that a job has done, extrapolated from the last that is known. */
export function doneWork(record: JobRecord, now: number): number {
  if (!record.running) return record.done
  return record.done + ((now - record.since) / 1000) * record.worker!.workPerSecond
}

/** When a running job is expected to end. Does not change while it runs. */
export function expectedEnd(record: JobRecord): number {
  return record.since + ((record.expected - record.done) / record.worker!.workPerSecond) * 1000
}

/** Notes how much a job has done by now. */
export function settleDone(record: JobRecord, done: number, now: number): void {
  record.done = done
  record.since = now
}

/** Brings the picture up to date after the worker's jobs, or what is known of them, changed. */
export function mirror(core: Core, worker: WorkerRecord): void {
  const { jobs } = worker
  if (!core.discipline.bounded) {
    worker.running = jobs.length
    return
  }
  const { now } = core
  if (jobs.length <= worker.cores) {
    worker.running = jobs.length
    for (const record of jobs) if (!record.running) run(record, now)
    return
  }
  const chosen = core.discipline.choose(jobs, worker.cores, (record) => remainingWork(record, now))
  worker.running = chosen.length
  for (const record of jobs) {
    const runs = chosen.includes(record)
    if (runs && !record.running) run(record, now)
    else if (!runs && record.running) pause(record, now)
  }
}

function run(record: JobRecord, now: number): void {
  record.running = true
  record.since = now
}

function pause(record: JobRecord, now: number): void {
  settleDone(record, doneWork(record, now), now)
  record.running = false
}
