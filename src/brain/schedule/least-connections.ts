import { rankedWorkers } from './ranked.ts'
import type { SchedulerFactory } from './scheduler.ts'

/** The worker with the fewest jobs; among equals, the one whose last job came longest ago. */
export const leastConnections: SchedulerFactory = (parts) =>
  rankedWorkers('least-connections', 'fewest-jobs', parts, (worker) => worker.jobs.length)
