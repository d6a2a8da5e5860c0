/** What the brain believes, put so that people, tests and checks can read it. */

/** Facts by name, for people. */
export type Figures = Readonly<Record<string, number | string | boolean | null>>

export interface WorkerView {
  id: string
  state: 'ready' | 'draining'
  suspect: boolean
  /** Has joined, and not reported yet. */
  fresh: boolean
  cores: number
  slots: number
  memoryMb: number
  usedMemoryMb: number
  /** The share of its cores that was busy between the last two looks; null: not known. */
  cpu: number | null
  /** The role that the scaler assigned, if it assigns roles. */
  role?: string
  /** What policies tell of it. */
  figures: Figures
  /** Work that its jobs are still expected to need, together. */
  outstanding: number
  /** Jobs in its hands, in order of arrival there. */
  jobs: { job: string; attempt: number; running: boolean; remaining: number }[]
}

/** A worker in a role that takes no jobs has no slots. */
export function mayWork({ state, slots }: WorkerView): boolean {
  return state === 'ready' && slots > 0
}

export interface BrainView {
  now: number
  waiting: string[]
  /** How many of those are in each lane, where there are lanes. */
  lanes?: Readonly<Record<string, number>>
  placed: number
  /** In functions. */
  away: { job: string; attempt: number; function: string }[]
  jobs: number
  timers: number
  booting: string[]
  ready: number
  draining: number
  workers: WorkerView[]
  counters: Readonly<Counters>
  /** What the scaling policy tells of itself. */
  scaling: Figures
  /** Jobs that have their turn on a core, how many may, and those that are owed one. */
  turns: { taken: number; most: number; owed: number }
  /** A job that waits while an empty worker may take it, if there is one: a fault of the policy. */
  idleBeside(): { job: string; worker: string } | undefined
  /** What is remembered of a job that is over, if anything is: a leak. */
  leftBehind(): string | undefined
}

/** How often things happened since the start. */
export interface Counters {
  accepted: number
  results: number
  errors: number
  refused: number
  unknown: number
  cancelled: number
  retries: number
  superseded: number
  /** Waited longer than the policy lets jobs of their lane wait. */
  dropped: number
}
