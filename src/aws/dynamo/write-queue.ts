/** Writes that nobody waits for: bounded, in order for each key, and never rejecting. */

export interface WriteQueue {
  add(key: string, write: () => Promise<void>): void
  /** Resolves when everything that was added before has been written or has failed. */
  flush(): Promise<void>
}

const lanes = 8
const most = 10_000

/** A write that fails is logged and lost; so is one beyond the ten thousand that may wait. */
export function writeQueue(log: (line: string) => void): WriteQueue {
  const ends: Promise<void>[] = Array.from({ length: lanes }, () => Promise.resolve())
  let waiting = 0
  let lastProblem = ''

  /** The same problem of many writes is logged once. */
  function failed(problem: string): void {
    if (problem !== lastProblem) log(`tables: a row is lost: ${problem}`)
    lastProblem = problem
  }

  return {
    add(key, write) {
      if (waiting >= most) return failed(`${most} rows wait already`)
      waiting++
      const lane = laneOf(key)
      ends[lane] = ends[lane]!.then(async () => {
        try {
          await write()
          lastProblem = ''
        } catch (error) {
          failed((error as Error).message)
        } finally {
          waiting--
        }
      })
    },
    flush: async () => void (await Promise.all(ends)),
  }
}

function laneOf(key: string): number {
  let hash = 0
  for (let at = 0; at < key.length; at++) hash = (hash * 31 + key.charCodeAt(at)) >>> 0
  return hash % lanes
}
