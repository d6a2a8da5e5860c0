import type { WorkerRecord } from '../state.ts'
import { rankedWorkers } from './ranked.ts'
import type { SchedulerFactory } from './scheduler.ts'

/** The worker that would be done soonest with what it has; among equals, the one that was given a job longest ago. */
export const leastWork: SchedulerFactory = (parts) =>
  rankedWorkers('least-work', 'least-work', parts, outstandingSeconds)

function outstandingSeconds(worker: WorkerRecord): number {
  return workIn(worker) / (worker.cores * worker.workPerSecond)
}

/** What its jobs still need, as far as they were heard of last. */
export function workIn({ jobs }: WorkerRecord): number {
  let work = 0
  for (const { expected, done } of jobs) work += Math.max(0, expected - done)
  return work
}
