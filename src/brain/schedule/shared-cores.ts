/** Cores that ranked jobs share with unproven ones, under `srpt`. */

import type { Attempt, WorkerRecord } from '../state.ts'

/** True: it runs whatever its rank, because nobody knows how long it takes. The discipline decides the same. */
export function sharesCores({ unproven, record }: Attempt): boolean {
  return unproven && record.tier === 0
}

/** True: one more ranked job would run at once without preempting another. */
export function hasFreeCore({ running, cores, jobs }: WorkerRecord): boolean {
  if (running < cores) return true
  let ranked = 0
  for (const attempt of jobs) if (attempt.running && !sharesCores(attempt)) ranked++
  return ranked < cores
}

/** Work per second of one more job that runs beside all that run now. */
export function speedForOneMore({ workPerSecond, cores, running }: WorkerRecord): number {
  return running < cores ? workPerSecond : (workPerSecond * cores) / (running + 1)
}
