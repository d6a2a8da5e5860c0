/** What a worker announces when it joins. */
export interface WorkerFacts {
  id: string
  cores: number
  workPerSecond: number
  memoryMb: number
  /** The maximum number of jobs it holds at once, running and paused. */
  slots: number
}
