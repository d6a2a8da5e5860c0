/**
 * The tiered system's placement: queues in one place, from which workers pull. Each lane is a queue; a worker with a
 * free core takes the oldest of their heads. That is the order of arrival, so the brain's one queue serves all lanes.
 */

import { EmptyWorkers } from '../../brain/schedule/empty.ts'
import { passOver, type SchedulerFactory } from '../../brain/schedule/scheduler.ts'
import { isOpen, type WorkerRecord } from '../../brain/state.ts'
import { type Entry, Heap } from '../../lib/heap.ts'
import type { Reason } from '../../model/reason.ts'

export const centralQueue: SchedulerFactory = ({ accepts }) => {
  /** Workers with a free core, the one whose last job came longest ago first. */
  const free = new Heap<WorkerRecord>()
  const empty = new EmptyWorkers()
  return {
    name: 'central-queue',
    rank: () => 0,
    refile(worker) {
      empty.refile(worker)
      const entry = worker.filed as Entry<WorkerRecord> | undefined
      if (isFree(worker)) {
        if (entry) free.put(entry, worker.placedStamp, 0)
        else worker.filed = free.push(worker, worker.placedStamp, 0)
      } else if (entry) {
        free.remove(entry)
        worker.filed = undefined
      }
    },
    place(record) {
      let worker = free.find((candidate) => accepts(candidate, record), passOver)
      if (!worker && free.size > passOver) worker = empty.first(record, accepts)
      if (worker) return { worker, reason: pulls(worker) }
      return { reason: { code: 'none-free', free: free.size } }
    },
    takes: (worker) => (isFree(worker) ? pulls(worker) : undefined),
  }
}

/** A worker processes one request per core, and pulls the next when one is done. */
function isFree(worker: WorkerRecord): boolean {
  return isOpen(worker) && worker.jobs.length < worker.cores
}

function pulls({ jobs, cores }: WorkerRecord): Reason {
  return { code: 'pulls', jobs: jobs.length, cores }
}
