/** Policies that give each job to the open worker with the smallest rank: they differ in that rank only. */

import { type Entry, Heap } from '../../heap.ts'
import { isOpen, type WorkerRecord } from '../state.ts'
import { EmptyWorkers } from './empty.ts'
import { passOver, type Scheduler, type SchedulerParts } from './scheduler.ts'

export function rankedWorkers(
  name: string,
  code: string,
  { accepts }: SchedulerParts,
  rank: (worker: WorkerRecord) => number,
): Scheduler {
  const open = new Heap<WorkerRecord>()
  const empty = new EmptyWorkers()
  return {
    name,
    rank: () => 0,
    refile(worker) {
      empty.refile(worker)
      const entry = worker.filed as Entry<WorkerRecord> | undefined
      if (isOpen(worker)) {
        if (entry) open.put(entry, rank(worker), worker.placedStamp)
        else worker.filed = open.push(worker, rank(worker), worker.placedStamp)
      } else if (entry) {
        open.remove(entry)
        worker.filed = undefined
      }
    },
    place(record) {
      let worker = open.find((candidate) => accepts(candidate, record), passOver)
      if (!worker && open.size > passOver) worker = empty.first(record, accepts)
      if (!worker) return { reason: { code: 'no-room', openWorkers: open.size } }
      return { worker, reason: { code, jobs: worker.jobs.length } }
    },
    takes: (worker) => ({ code: 'room', jobs: worker.jobs.length, slots: worker.slots }),
    save: () => null,
    load: () => {},
  }
}
