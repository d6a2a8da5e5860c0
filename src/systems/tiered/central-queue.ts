/**
 * Queues in one place, from which workers pull: each lane is a queue, and a worker with a free core is given the oldest
 * of their heads. That is the order of arrival over all lanes, so the one queue that the brain has serves for them all.
 */

import { EmptyWorkers } from '../../brain/schedule/empty.ts'
import { passOver, type SchedulerFactory } from '../../brain/schedule/scheduler.ts'
import { isOpen, type WorkerRecord } from '../../brain/state.ts'
import { type Entry, Heap } from '../../lib/heap.ts'
import type { Reason } from '../../model/reason.ts'

export const centralQueue: SchedulerFactory = ({ accepts }) => {
  /** Workers that ask for work. Whoever was given some longest ago comes first. */
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
    save: () => null,
    load: () => {},
  }
}

/** It works on one request for each core, and asks for the next when one is done. */
function isFree(worker: WorkerRecord): boolean {
  return isOpen(worker) && worker.jobs.length < worker.cores
}

function pulls({ jobs, cores }: WorkerRecord): Reason {
  return { code: 'pulls', jobs: jobs.length, cores }
}
