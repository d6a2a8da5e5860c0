/** The one rule for whether a worker may be given a job. Every policy uses it. */

import type { Core } from '../core.ts'
import { isOpen, type JobRecord, type WorkerRecord } from '../state.ts'

export type Accepts = (worker: WorkerRecord, record: JobRecord) => boolean

/**
 * A worker takes a job when it is ready, reachable, has a slot and the memory for it, and has not failed the
 * job before. An empty worker takes a job of any size, so that no job waits for ever; and a worker that failed
 * the job takes it when no other is left.
 */
export function canAccept(core: Core, worker: WorkerRecord, record: JobRecord): boolean {
  if (!isOpen(worker)) return false
  if (worker.jobs.length > 0 && worker.usedMb + record.job.memoryMb > worker.memoryMb) return false
  return !record.excluded?.has(worker.id) || noOtherLeft(core, record.excluded)
}

function noOtherLeft(core: Core, excluded: Set<string>): boolean {
  let failedAndReady = 0
  for (const id of excluded) if (core.workers.get(id)?.state === 'ready') failedAndReady++
  return failedAndReady === core.ready - core.withoutSlots
}
