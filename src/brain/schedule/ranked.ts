/** Policies that give each job to the open worker with the smallest rank. They differ only in that rank. */

import type { WorkerRecord } from '../state.ts'
import { OpenWorkers } from './open-workers.ts'
import { hasRoom, type Scheduler, type SchedulerParts } from './scheduler.ts'

export function rankedWorkers(
  name: string,
  code: string,
  { accepts }: SchedulerParts,
  rank: (worker: WorkerRecord) => number,
): Scheduler {
  const open = new OpenWorkers(rank)
  return {
    name,
    rank: () => 0,
    refile: (worker) => open.refile(worker),
    place(record) {
      const worker = open.firstFor(record, accepts)
      if (!worker) return { reason: { code: 'no-room', openWorkers: open.size } }
      return { worker, reason: { code, jobs: worker.jobs.length } }
    },
    takes: hasRoom,
  }
}
