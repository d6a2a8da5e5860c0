/** What a worker announces when it joins. */
export interface WorkerFacts {
  id: string
  cores: number
  workPerSecond: number
  memoryMb: number
  /** The maximum number of jobs it holds at once, running and paused. */
  slots: number
}

/** What a job waits for that finds no slot ready on its worker. */
export interface SlotStarts {
  /** The number of jobs, running and paused, that the worker can hold before it must start another slot. */
  ready: number
  /** Usual time that such a start takes. */
  startMs: number
}

/** What an id of a worker or front may look like, for error messages. */
export const idRule = '1 to 64 characters out of A-Z, a-z, 0-9, ".", "_" and "-"'

export function isId(id: unknown): id is string {
  return typeof id === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(id)
}

/** The name of the worker that a launch starts. */
export function workerNameOf(launch: string): string {
  return `w${launch.split('-').at(-1)}`
}
