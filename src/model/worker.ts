/** What a worker says of itself when it joins. */
export interface WorkerFacts {
  id: string
  cores: number
  workPerSecond: number
  memoryMb: number
  /** Most jobs it holds at once, running and paused. */
  slots: number
}
