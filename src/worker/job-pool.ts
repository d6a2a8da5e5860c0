/** What a supervisor needs of whoever runs its jobs: slots of workloads, programs of the user's, or an upstream. */
import type { SlotJobRequest, SlotRun } from './slots/slot-run.ts'

export interface JobPool {
  /** Jobs can be started. Rejects if they never can, and says why. */
  ready(): Promise<void>
  /** Processes alive, whatever they do. */
  readonly size: number
  /** Takes the job at once; when it really begins is the pool's business. */
  start(job: SlotJobRequest): SlotRun
  /** Cancels what runs and ends all processes. */
  close(): Promise<void>
}
