import { rankedWorkers } from './ranked.ts'
import type { SchedulerFactory } from './scheduler.ts'

/** Each worker in turn: the one whose last job came longest ago. */
export const roundRobin: SchedulerFactory = (parts) =>
  rankedWorkers('round-robin', 'next-in-turn', parts, () => 0)
