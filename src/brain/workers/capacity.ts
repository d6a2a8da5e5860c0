/** What ready workers add up to. */

import type { Core } from '../core.ts'
import type { WorkerRecord } from '../state.ts'

/** What counts as capacity for scalers: ready workers, their cores, and how many of these run a job. */
export function scalerCapacity({ ready, cores, busyCores, writtenOff }: Core): {
  ready: number
  cores: number
  busyCores: number
} {
  const counted = { ready: ready - writtenOff.size, cores, busyCores }
  for (const worker of writtenOff) {
    counted.cores -= worker.cores
    counted.busyCores -= Math.min(worker.cores, worker.running)
  }
  return counted
}

/** A worker becomes ready (1), or is no longer ready (-1). */
export function countReady(
  core: Core,
  { slots, cores, workPerSecond, running }: WorkerRecord,
  by: 1 | -1,
): void {
  core.ready += by
  // A worker without slots has a role that takes no jobs.
  if (slots === 0) {
    core.withoutSlots += by
    return
  }
  core.busyCores += by * Math.min(cores, running)
  core.cores += by * cores
  core.capacity = core.ready === core.withoutSlots ? 0 : core.capacity + by * cores * workPerSecond
}
