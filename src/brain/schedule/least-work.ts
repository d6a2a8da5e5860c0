import type { WorkerRecord } from '../state.ts'
import { rankedWorkers } from './ranked.ts'
import type { SchedulerFactory } from './scheduler.ts'

/** The worker that would finish its jobs first; among equals, the one whose last job came longest ago. */
export const leastWork: SchedulerFactory = (parts) =>
  rankedWorkers('least-work', 'least-work', parts, outstandingSeconds)

function outstandingSeconds(worker: WorkerRecord): number {
  return workIn(worker) / (worker.cores * worker.workPerSecond)
}

/** The work that its jobs still need, by the last report of each. */
export function workIn({ jobs }: WorkerRecord): number {
  let work = 0
  for (const { expected, done } of jobs) work += Math.max(0, expected - done)
  return work
}
