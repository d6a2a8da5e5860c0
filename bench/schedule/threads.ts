/** Spreads runs over one thread per core. */

import type { Summary } from '../../src/simulate/summary.ts'
import { runAll as runOnThreads } from '../threads.ts'
import type { Run } from './plan.ts'

/** The figures of each run, in order. `done` is called with the number of finished runs. */
export function runAll(runs: readonly Run[], done: (count: number) => void): Promise<Summary[]> {
  return runOnThreads(new URL('./run.ts', import.meta.url), runs, done)
}
