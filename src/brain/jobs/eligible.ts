/** The one rule for whether a worker may be given a job. Every policy uses it. */

import { isOpen, type JobRecord, type WorkerRecord } from '../state.ts'

export type Accepts = (worker: WorkerRecord, record: JobRecord) => boolean

/** What the rule needs to know of the fleet. */
interface Fleet {
  readonly workers: ReadonlyMap<string, WorkerRecord>
  readonly ready: number
  readonly withoutSlots: number
}

/**
 * A worker may be given a job if it is ready and reachable, has a slot and the memory for the job, and has not failed
 * it before. Two exceptions keep jobs from waiting forever: an empty worker takes a job of any size, and a worker that
 * failed the job takes it if no other is ready.
 */
export function canAccept(fleet: Fleet, worker: WorkerRecord, record: JobRecord): boolean {
  if (!isOpen(worker)) return false
  if (worker.jobs.length > 0 && worker.usedMb + record.job.memoryMb > worker.memoryMb) return false
  return !record.excluded?.has(worker.id) || noOtherReady(fleet, record.excluded)
}

function noOtherReady({ workers, ready, withoutSlots }: Fleet, excluded: Set<string>): boolean {
  let excludedAndReady = 0
  for (const id of excluded) if (workers.get(id)?.state === 'ready') excludedAndReady++
  return excludedAndReady === ready - withoutSlots
}
