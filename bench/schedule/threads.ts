/** Spreads runs over threads, as many as there are cores. */

import type { Summary } from '../../src/simulate/summary.ts'
import { runAll as runOnThreads } from '../threads.ts'
import type { Run } from './plan.ts'

/** The figures of each run, in order. `done` is called with the number of runs that are over. */
export function runAll(runs: readonly Run[], done: (count: number) => void): Promise<Summary[]> {
  return runOnThreads(new URL('./run.ts', import.meta.url), runs, done)
}
