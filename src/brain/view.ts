/** The brain's state for people, tests and checks. */

import type { BrainView, WorkerView } from '../model/view.ts'
import type { Core } from './core.ts'
import { doneWork, isRunning, ranMs, remainingWork } from './jobs/mirror.ts'
import { mayTake } from './jobs/placing.ts'
import { mostTurns } from './jobs/turns.ts'
import type { JobRecord, WorkerRecord } from './state.ts'
import { isJobTimer } from './timer.ts'

export function viewOf(core: Core): BrainView {
  const waiting = [...core.queue]
  const inFunctions = core.overflow?.worker.jobs ?? []
  let absent = 0
  for (const { jobs } of core.recovery.absent.values()) absent += jobs.length
  return {
    now: core.now,
    waiting: waiting.map((record) => record.job.id),
    ...lanesOf(waiting),
    placed: core.jobs.size - waiting.length - inFunctions.length - absent,
    absent,
    away: inFunctions.map(({ job, number, worker }) => ({
      job: job.id,
      attempt: number,
      function: worker.id,
    })),
    jobs: core.jobs.size,
    timers: core.timers.size,
    booting: [...core.launches.keys()],
    ready: core.ready,
    draining: core.draining.size,
    workers: [...core.workers.values()].map((worker) => workerView(core, worker)),
    counters: { ...core.counters },
    scaling: core.scaler.figures?.() ?? {},
    turns: { taken: core.turns, most: mostTurns(core), owed: owed(core) },
    idleBeside() {
      if (core.scheduler.patient) return undefined
      for (const worker of core.workers.values()) {
        if (worker.jobs.length > 0) continue
        const record = waiting.find((candidate) => mayTake(core, worker, candidate))
        if (record) return { job: record.job.id, worker: worker.id }
      }
      return undefined
    },
    leftBehind() {
      for (const { kind, id } of core.timers)
        if (isJobTimer(kind) && !core.jobs.has(id)) return `a timer for the ${kind} of job ${id}`
      for (const { job } of core.deadlines) if (!core.jobs.has(job.id)) return `the deadline of job ${job.id}`
      for (const { job } of inFunctions) if (!core.jobs.has(job.id)) return `job ${job.id} in a function`
      if (core.jobs.size === 0 && core.overflow && core.overflow.backlog.total !== 0)
        return `a backlog of ${core.overflow.backlog.total} units of work`
      const sharing = [...core.shares.clients.values()].reduce((sum, { jobs }) => sum + jobs.size, 0)
      if (sharing !== core.jobs.size) return `${sharing} jobs in the shares of clients`
      return undefined
    },
  }
}

/** Jobs that are no longer owed a turn stay in the heap until they come up. */
function owed(core: Core): number {
  let count = 0
  for (const { turn } of core.owed) if (turn === 'owed') count++
  return count
}

/** How many queued jobs each lane has. */
function lanesOf(waiting: readonly JobRecord[]): Pick<BrainView, 'lanes'> {
  const lanes: Record<string, number> = {}
  for (const {
    job: { lane },
  } of waiting)
    if (lane !== undefined) lanes[lane] = (lanes[lane] ?? 0) + 1
  return Object.keys(lanes).length > 0 ? { lanes } : {}
}

function workerView(core: Core, worker: WorkerRecord): WorkerView {
  const { now, scheduler, scaler } = core
  const notice = worker.ejected ?? worker.kept ?? worker.stalled
  const jobs = worker.jobs.map((attempt) => ({
    job: attempt.job.id,
    attempt: attempt.number,
    running: isRunning(core, attempt),
    done: doneWork(attempt, now),
    remaining: remainingWork(attempt, now),
    predicted: attempt.job.work,
    ranMs: ranMs(attempt, now),
  }))
  return {
    id: worker.id,
    state: worker.state === 'ready' ? 'ready' : 'draining',
    suspect: worker.suspect,
    ...(notice && { notice }),
    fresh: worker.reports === 0,
    cores: worker.cores,
    slots: worker.slots,
    memoryMb: worker.memoryMb,
    usedMemoryMb: worker.usedMb,
    cpu: worker.cpu,
    ...(worker.role && { role: worker.role }),
    figures: {
      ...(worker.role && { role: worker.role }),
      ...(worker.slots === 0 && { open: core.through.get(worker.id) ?? 0 }),
      ...scheduler.figuresOf?.(worker),
      ...scaler.figuresOf?.(worker.id),
    },
    outstanding: jobs.reduce((sum, { remaining }) => sum + remaining, 0),
    jobs,
  }
}
