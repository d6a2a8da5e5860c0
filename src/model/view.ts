/** The brain's state, in a form for people, tests and checks. */

import type { Reason } from './reason.ts'

/** Named facts for people. */
export type Figures = Readonly<Record<string, number | string | boolean | null>>

export interface WorkerView {
  id: string
  state: 'ready' | 'draining'
  suspect: boolean
  /** Why it gets no jobs although it is ready: it is ejected, or silent and not declared lost yet; or its jobs stood still, and it drains. */
  notice?: Reason
  /** Has joined but not yet reported. */
  fresh: boolean
  cores: number
  slots: number
  memoryMb: number
  usedMemoryMb: number
  /** The share of its cores that was busy between the last two readings; null: unknown. */
  cpu: number | null
  /** The role that the scaler assigned, if it assigns roles. */
  role?: string
  /** Facts from the policies. */
  figures: Figures
  /** The expected remaining work of all its jobs. */
  outstanding: number
  /** Its jobs, in order of arrival at the worker. */
  jobs: JobView[]
}

export interface JobView {
  job: string
  attempt: number
  running: boolean
  /** Work done, what is still expected to be needed, and what was predicted for all of it. */
  done: number
  remaining: number
  predicted: number
  /** Time so far during which it was not paused; of a shared core, its part. */
  ranMs: number
}

/** A worker in a role that takes no jobs has no slots. */
export function mayWork({ state, slots }: WorkerView): boolean {
  return state === 'ready' && slots > 0
}

export interface BrainView {
  now: number
  waiting: string[]
  /** The number of queued jobs by lane, if there are lanes. */
  lanes?: Readonly<Record<string, number>>
  placed: number
  /** Jobs whose attempts an earlier brain began on workers that have not joined this one. */
  absent: number
  /** In functions. */
  away: { job: string; attempt: number; function: string }[]
  jobs: number
  timers: number
  booting: string[]
  ready: number
  draining: number
  workers: WorkerView[]
  counters: Readonly<Counters>
  /** Facts from the scaler. */
  scaling: Figures
  /** Jobs that have their turn, the maximum, and jobs that are owed one. */
  turns: { taken: number; most: number; owed: number }
  /** A job that is queued although an idle worker could take it: a fault of the policy. */
  idleBeside(): { job: string; worker: string } | undefined
  /** State that is still kept for a job that has ended: a leak. */
  leftBehind(): string | undefined
}

/** Counts since the start. */
export interface Counters {
  accepted: number
  results: number
  errors: number
  refused: number
  unknown: number
  cancelled: number
  retries: number
  superseded: number
  /** Exceeded the queue timeout of their lane. */
  dropped: number
}
