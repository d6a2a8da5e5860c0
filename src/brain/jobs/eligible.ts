/** The one rule for whether a worker may be given a job. Every policy uses it. */

import { isOpen, type JobRecord, type WorkerRecord } from '../state.ts'

export type Accepts = (worker: WorkerRecord, record: JobRecord) => boolean

/** What the rule needs to know of the fleet. */
interface Fleet {
  readonly workers: ReadonlyMap<string, WorkerRecord>
  readonly ready: number
  readonly withoutSlots: number
  readonly ejected: ReadonlySet<WorkerRecord>
}

/**
 * A worker may be given a job if it is ready, reachable and not ejected, has a slot and the memory for the job, and has not failed
 * it before. Two exceptions keep jobs from waiting forever: an empty worker takes a job of any size, and a worker that
 * failed the job takes it if no other is available.
 */
export function canAccept(fleet: Fleet, worker: WorkerRecord, record: JobRecord): boolean {
  if (!isOpen(worker)) return false
  const { usedMb, smallMb, memoryMb } = worker
  if (worker.jobs.length > 0 && usedMb + smallMb + record.job.memoryMb > memoryMb) return false
  return !record.excluded?.has(worker.id) || noOther(fleet, record.excluded)
}

function noOther({ workers, ready, withoutSlots, ejected }: Fleet, excluded: Set<string>): boolean {
  let available = 0
  for (const id of excluded) {
    const worker = workers.get(id)
    if (worker?.state === 'ready' && !worker.ejected) available++
  }
  return available === ready - withoutSlots - ejected.size
}
