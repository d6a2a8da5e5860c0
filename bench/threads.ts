/** Spreads runs over one thread per core. */

import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

/** The script's result for each run, in order. `done` is called with the number of finished runs. */
export async function runAll<Run, Result>(
  script: URL,
  runs: readonly Run[],
  done: (count: number) => void,
): Promise<Result[]> {
  const results = new Array<Result>(runs.length)
  let [next, over] = [0, 0]
  const oneThread = async () => {
    const thread = new Worker(script)
    try {
      while (next < runs.length) {
        const index = next++
        results[index] = await answer<Result>(thread, runs[index])
        done(++over)
      }
    } finally {
      await thread.terminate()
    }
  }
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), runs.length) }, oneThread))
  return results
}

function answer<Result>(thread: Worker, run: unknown): Promise<Result> {
  return new Promise((resolve, reject) => {
    thread.once('error', reject)
    thread.once('message', (result: Result) => {
      thread.off('error', reject)
      resolve(result)
    })
    thread.postMessage(run)
  })
}
