/** What schedulers and scalers see of the fleet. */

import type { Core } from '../core.ts'
import { doneWork, remainingWork } from '../jobs/mirror.ts'
import { speedOf } from '../jobs/times.ts'
import type { FleetView, Present, WorkerFigures } from '../scale/scaler.ts'
import type { FleetFacts } from '../schedule/scheduler.ts'
import type { JobRecord, WorkerRecord } from '../state.ts'
import { scalerCapacity } from './capacity.ts'

export function fleetView(core: Core): FleetView {
  const { occupancy, boots } = core
  return {
    ...scalerCapacity(core),
    inRole: (role) => readyIn(core, role),
    booting: core.launches.size,
    draining: core.draining.size,
    waiting: core.queue.size,
    jobs: core.jobs.size,
    coresEach: core.coresEach,
    ...occupancy.sums(core.now),
    bootMs: boots.percentile(90),
    present: () => present(core),
    workers: () => [...core.workers.values()].map((worker) => figuresOf(worker, core.now)),
    waitingWork: () => waitingWork(core),
  }
}

/** What schedulers may know of the fleet besides its workers. */
export function fleetFacts(core: () => Core): FleetFacts {
  return {
    ready: () => core().ready,
    booting: () => core().launches.size,
    isBooting: (launch) => core().launches.has(launch),
    isWaiting: (job) => core().jobs.get(job)?.queued !== undefined,
    room() {
      const { now, launchNotBefore, mostWorkers, ready, launches } = core()
      return now < launchNotBefore ? 0 : Math.max(0, mostWorkers - ready - launches.size)
    },
  }
}

function figuresOf(worker: WorkerRecord, now: number): WorkerFigures {
  const { id, number, state, suspect, cpu, jobs, since } = worker
  return {
    ...{ id, number, suspect, cpu, since },
    draining: state === 'draining',
    jobs: jobs.length,
    work: jobs.reduce((sum, attempt) => sum + remainingWork(attempt, now), 0),
  }
}

function readyIn(core: Core, role: string): number {
  let count = 0
  for (const worker of core.workers.values()) if (worker.state === 'ready' && worker.role === role) count++
  return count
}

function waitingWork(core: Core): number {
  let sum = 0
  for (const { job } of core.queue) sum += job.work
  return sum
}

function present(core: Core): Present {
  const sums: Present = {
    seconds: 0,
    waitingSeconds: 0,
    waitingJobs: 0,
    drainingSeconds: 0,
    oldestWaitingMs: 0,
  }
  const { now } = core
  const usual = core.capacity > 0 ? core.capacity / core.cores : core.fastest
  for (const record of core.jobs.values()) {
    const seconds = secondsLeft(record, now, usual)
    sums.seconds += seconds
    if (record.attempt?.worker.state === 'draining') {
      sums.drainingSeconds += seconds
      continue
    }
    const part = waitingPart(core, record)
    if (part === 0) continue
    sums.waitingJobs += part
    sums.waitingSeconds += part * seconds
    sums.oldestWaitingMs = Math.max(sums.oldestWaitingMs, now - record.arrivedAt)
  }
  return sums
}

/** Seconds on a core of its own. A job that has outgrown its prediction needs what its revised estimate says. */
export function secondsLeft({ job, attempt, expected }: JobRecord, now: number, usualRate: number): number {
  const rate = attempt?.worker.workPerSecond ?? usualRate
  if (rate === 0) return 0
  const done = attempt ? doneWork(attempt, now) : 0
  return Math.max(0, Math.max(attempt?.expected ?? expected, job.work) - done) / (rate * speedOf(job))
}

/** The part of the job that has no core now. Where jobs share the cores, that may be a fraction. */
function waitingPart({ discipline }: Core, { attempt }: JobRecord): number {
  if (!attempt) return 1
  if (discipline.bounded) return attempt.running ? 1 - attempt.worker.pace : 1
  const { cores, jobs } = attempt.worker
  return Math.max(0, 1 - cores / jobs.length)
}
