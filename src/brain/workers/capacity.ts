/** What ready workers add up to. */

import type { Core } from '../core.ts'
import type { WorkerRecord } from '../state.ts'

/** A worker becomes ready (1), or is no longer ready (-1). */
export function countReady(
  core: Core,
  { role, cores, workPerSecond, running }: WorkerRecord,
  by: 1 | -1,
): void {
  core.ready += by
  if (role === 'front') {
    core.fronts += by
    return
  }
  core.busyCores += by * Math.min(cores, running)
  core.cores += by * cores
  core.capacity = core.ready === core.fronts ? 0 : core.capacity + by * cores * workPerSecond
}
