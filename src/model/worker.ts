/** What a worker says of itself when it joins. */
export interface WorkerFacts {
  id: string
  cores: number
  workPerSecond: number
  memoryMb: number
  /** Most jobs it holds at once, running and paused. */
  slots: number
}

/**
 * What a node of a cluster with tiers is for: a front takes requests in and puts them into the queues, a middle pulls
 * from the queues and does the work.
 */
export type Role = 'front' | 'middle'

/** When a node asks to be ended: it has had nothing to do for so long, or `gaps` requests in a row came so late after another. */
export interface EndingRule {
  idleMs: number
  gapMs: number
  gaps: number
}
