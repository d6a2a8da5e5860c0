/** The brain's picture of what each worker is running, by the discipline that the worker itself obeys. */

import { thousandths } from '../../lib/quantities.ts'
import { rankOf, standsIn } from '../../model/discipline.ts'
import type { Core } from '../core.ts'
import type { JobRecord, WorkerRecord } from '../state.ts'
import { msOn, say } from './said.ts'

/** Work that a job is still expected to need. */
export function remainingWork(record: JobRecord, now: number): number {
  return Math.max(0, record.expected - doneWork(record, now))
}

/** Work that a job has done, extrapolated from the last that is known. */
export function doneWork(record: JobRecord, now: number, worker = record.worker!): number {
  if (!record.running) return record.done
  return record.done + ((now - record.since) / 1000) * worker.workPerSecond
}

/** Where jobs share the cores all of them run. */
export function isRunning({ discipline }: Core, { running }: JobRecord): boolean {
  return running || !discipline.bounded
}

/** How long the current attempt has had a core. A job that waits for something has one too. */
export function ranMs(record: JobRecord, now: number): number {
  return record.ranMs + (record.running ? now - record.since : 0)
}

/** Its place among the jobs of its worker. */
function rank(record: JobRecord, now: number): number {
  const done = doneWork(record, now)
  return rankOf(record, done, Math.max(0, record.expected - done))
}

/** When a running job is expected to end. Does not change while it runs. */
export function expectedEnd(record: JobRecord): number {
  return record.since + ((record.expected - record.done) / record.worker!.workPerSecond) * 1000
}

/** Notes how much a job has done by now. */
export function settleDone(record: JobRecord, done: number, now: number): void {
  record.ranMs = ranMs(record, now)
  record.done = done
  record.since = now
}

/** Brings the picture up to date after the worker's jobs, or what is known of them, changed. */
export function mirror(core: Core, worker: WorkerRecord): void {
  const { jobs } = worker
  if (!core.discipline.bounded) {
    setRunning(core, worker, jobs.length)
    return
  }
  const { now } = core
  if (jobs.length <= worker.cores) {
    setRunning(core, worker, jobs.length)
    for (const record of jobs) if (!record.running) run(core, record)
    return
  }
  const chosen = core.discipline.choose(jobs, worker.cores, (record) => rank(record, now))
  setRunning(core, worker, chosen.length)
  let taker = 0
  for (const record of jobs) {
    if (!record.running || chosen.includes(record)) continue
    // Those that are chosen and run already keep their cores; each of the others takes one.
    while (chosen[taker]?.running) taker++
    pause(core, record, chosen[taker++])
  }
  for (const record of chosen) if (!record.running) run(core, record)
}

function setRunning(core: Core, worker: WorkerRecord, running: number): void {
  if (worker.state === 'ready')
    core.busyCores += Math.min(worker.cores, running) - Math.min(worker.cores, worker.running)
  worker.running = running
}

/** A job was sent to a worker that has no core for it yet. */
export function queueBehind(core: Core, record: JobRecord): void {
  record.pausedAt = core.now
  const worker = record.worker!
  const { jobs, cores } = worker
  say(core, 'pause', record, worker, { code: 'no-core', jobs: jobs.length - 1, cores })
}

function run(core: Core, record: JobRecord): void {
  const { now } = core
  record.running = true
  record.since = now
  if (record.pausedAt < 0) return
  const pausedMs = thousandths(now - record.pausedAt)
  record.pausedAt = -1
  const left = leftMs(record, now)
  say(core, 'resume', record, record.worker!, {
    ...{ code: 'core-again', pausedMs, leftMs: left },
    ...goesFirst(record, now),
  })
}

function pause(core: Core, record: JobRecord, taker: JobRecord | undefined): void {
  const { now } = core
  settleDone(record, doneWork(record, now), now)
  record.running = false
  record.pausedAt = now
  const left = leftMs(record, now)
  say(
    core,
    'pause',
    record,
    record.worker!,
    taker
      ? {
          ...{ code: 'core-taken', by: taker.job.id, needMs: leftMs(taker, now), leftMs: left },
          ...goesFirst(taker, now),
        }
      : { code: 'not-chosen', leftMs: left },
  )
}

/** Says so where it is not for what is left of it that a job has a core. */
function goesFirst(record: JobRecord, now: number): { first?: 1 } {
  return standsIn(record, doneWork(record, now)) < 0 ? { first: 1 } : {}
}

function leftMs(record: JobRecord, now: number): number {
  return msOn(record.worker!, remainingWork(record, now))
}
