/** Cores that ranked jobs share with unproven ones, under `srpt`. A job that has had its share is ranked like others. */

import { holdsCore } from '../jobs/mirror.ts'
import type { Attempt, JobRecord, WorkerRecord } from '../state.ts'

/**
 * Unproven jobs that share a core. More would need more processes, each of which takes as much CPU time to start as
 * several jobs; a few are enough for short jobs to pass a long one.
 */
const mostPerCore = 4

/** True: the job's estimate does not rank it. Jobs of a client that has exceeded its share are always ranked. */
export function isUnranked({ job, tier }: JobRecord): boolean {
  return job.unproven === true && tier === 0
}

/** True: one more unproven job may share the cores. */
export function hasShare({ cores, jobs }: WorkerRecord): boolean {
  if (jobs.length < cores * mostPerCore) return true
  let sharing = 0
  for (const attempt of jobs) if (!attempt.waiting && sharesCores(attempt)) sharing++
  return sharing < cores * mostPerCore
}

/** True: it runs whatever its rank, because nobody knows how long it takes. The discipline decides the same. */
export function sharesCores({ sharesUntil, record }: Attempt): boolean {
  return sharesUntil > 0 && record.tier === 0
}

/** True: one more ranked job would run at once without preempting another. */
export function hasFreeCore({ running, cores, jobs }: WorkerRecord): boolean {
  if (running < cores) return true
  let ranked = 0
  for (const attempt of jobs) if (holdsCore(attempt) && !sharesCores(attempt)) ranked++
  return ranked < cores
}

/** Work per second of one more job that runs beside all that run now. */
export function speedForOneMore({ workPerSecond, cores, running }: WorkerRecord): number {
  return running < cores ? workPerSecond : (workPerSecond * cores) / (running + 1)
}
