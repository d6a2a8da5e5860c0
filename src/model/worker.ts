/** What a worker announces when it joins. */
export interface WorkerFacts {
  id: string
  cores: number
  workPerSecond: number
  memoryMb: number
  /** The maximum number of jobs it holds at once, running and paused. */
  slots: number
}

/** The name of the worker that a launch starts. */
export function workerNameOf(launch: string): string {
  return `w${launch.split('-').at(-1)}`
}
