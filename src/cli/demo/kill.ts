/** Kills one worker, as a crash would. */

import { setTimeout as wait } from 'node:timers/promises'
import type { Cluster } from '../../live/cluster.ts'

export interface Killed {
  worker: string
  pid: number
  /** Jobs that it had. */
  held: number
}

/** The number of jobs that makes a worker a good victim. */
const fullHands = 3

/**
 * From `atMs` on, looks for a busy worker, later for one with any job, and sends it SIGKILL. Undefined: none was found
 * before the signal was aborted.
 */
export async function killBusyWorker(
  cluster: Cluster,
  atMs: number,
  signal: AbortSignal,
): Promise<Killed | undefined> {
  try {
    await wait(atMs, undefined, { signal })
    const settleAt = performance.now() + atMs / 2
    for (;;) {
      const least = performance.now() < settleAt ? fullHands : 1
      const { workers, discipline } = cluster.state()
      // With shared cores, all jobs run.
      const isBusy = (jobs: { running: boolean }[]) =>
        jobs.length >= least && (discipline === 'sharing' || jobs.some((job) => job.running))
      const busy = workers.filter(({ pid, jobs }) => pid !== undefined && isBusy(jobs))
      const busiest = busy.sort((a, b) => b.jobs.length - a.jobs.length)[0]
      if (busiest?.pid !== undefined) {
        process.kill(busiest.pid, 'SIGKILL')
        return { worker: busiest.id, pid: busiest.pid, held: busiest.jobs.length }
      }
      await wait(5, undefined, { signal })
    }
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  }
}
