/** Spreads runs over threads, as many as there are cores. */

import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Summary } from '../../src/simulate/summary.ts'
import type { Run } from './plan.ts'

/** The figures of each run, in order. `done` is called with the number of runs that are over. */
export async function runAll(runs: readonly Run[], done: (count: number) => void): Promise<Summary[]> {
  const results = new Array<Summary>(runs.length)
  let [next, over] = [0, 0]
  const oneThread = async () => {
    const thread = new Worker(new URL('./run.ts', import.meta.url))
    try {
      while (next < runs.length) {
        const index = next++
        results[index] = await figures(thread, runs[index]!)
        done(++over)
      }
    } finally {
      await thread.terminate()
    }
  }
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), runs.length) }, oneThread))
  return results
}

function figures(thread: Worker, run: Run): Promise<Summary> {
  return new Promise((resolve, reject) => {
    thread.once('error', reject)
    thread.once('message', (summary: Summary) => {
      thread.off('error', reject)
      resolve(summary)
    })
    thread.postMessage(run)
  })
}
