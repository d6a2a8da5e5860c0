import type { AttemptToken, FailureKind, HeldAttempt, Ongoing } from './attempt.ts'
import type { Job } from './job.ts'
import type { SlotStarts, WorkerFacts } from './worker.ts'

/** What the brain is told. */
export type Event =
  /**
   * `pressure`: from 0 to 1, how urgently the process that accepted the job must shed load. Default: 0. `on`: an earlier brain had
   * accepted the job, and its attempt goes on.
   */
  | { type: 'arrived'; job: Job; pressure?: number; on?: Ongoing }
  | { type: 'cancelled'; job: string }
  /** An attempt that may start only once asks for permission. */
  | ({ type: 'ready'; worker: string } & AttemptToken)
  /** `waiting`: whether it waits for input or output from now on; undefined: as before. */
  | ({ type: 'progressed'; worker: string; done: number; waiting?: boolean } & AttemptToken)
  /** A long answer is being streamed. From here on the loss of its connection counts, not that of the worker, which may finish first. */
  | ({ type: 'answering'; worker: string } & AttemptToken)
  | ({ type: 'finished'; worker: string; work: number } & AttemptToken)
  /**
   * `work`: work done before the failure, if measured. `blameless`: an error that says nothing about the worker, because
   * the workload refused the request, or it was never sent.
   */
  | ({
      type: 'failed'
      worker: string
      kind: FailureKind
      message?: string
      work?: number
      blameless?: true
    } & AttemptToken)
  /**
   * `seq` grows with every message of a worker, so that late and duplicate ones are recognised. `bootMs`: boot time, if
   * booting began before the launch.
   */
  | {
      type: 'joined'
      worker: WorkerFacts
      launch?: string
      bootMs?: number
      seq: number
      held: HeldAttempt[]
    }
  /**
   * `cpuMs`: CPU time that its processes used or waited for since the worker started, if measured. `smallMb`: memory of
   * slots that run small jobs, which the brain does not place; undefined: none do. `slotStarts`: undefined if no job waits for
   * the start of a slot.
   */
  | {
      type: 'reported'
      worker: string
      seq: number
      held: HeldAttempt[]
      cpuMs?: number
      smallMb?: number
      slotStarts?: SlotStarts
      role?: string
    }
  /** What `read-cpu` asked for: the share of its cores that each worker uses, from 0 to 1. A worker without data is left out. */
  | { type: 'cpu-read'; shares: { worker: string; share: number }[] }
  /** The worker has answered this ping. */
  | { type: 'pong'; worker: string; ping: number }
  /** A worker asks whether it may leave. The scaler interprets `why`, a code, and `ms`, the time that decided. */
  | { type: 'leave-requested'; worker: string; why: string; ms: number }
  /** `certain`: its process is known to have ended, so that not even a rule of pings may keep it. */
  | { type: 'lost'; worker: string; message?: string; certain?: true }
  /** The worker's connection to the brain has closed. It may reconnect. */
  | { type: 'disconnected'; worker: string }
  | { type: 'launch-failed'; launch: string; message?: string }
  /**
   * Workers that an earlier brain launched and that are expected to join. `joined`: they had joined that brain. Comes before any
   * of them does.
   */
  | { type: 'adopted'; launches: { launch: string; joined: boolean }[] }
  /**
   * The cluster leads now: workers and fronts of the leader before come to it. `epoch`: of its tokens from now on, greater than
   * those of all leaders before.
   */
  | { type: 'took-over'; epoch: number }
  /** The provider's list of machines that carry our tag; a launch with two machines is listed twice. */
  | { type: 'listed'; launches: string[]; askedAt: number }
  /** Drain this worker, on behalf of an operator, or at its own request, or because another one replaces it. */
  | { type: 'drain'; worker: string; by?: 'worker' | 'restart' }
  /** Requests that were answered without the brain, on its behalf. */
  | { type: 'delegated'; jobs: number; work: number }
  /** Requests that the brain does not know of may be in progress at this worker, from now on or no more. */
  | { type: 'held'; worker: string; held: boolean }
  | { type: 'tick' }
  /** The brain itself did not run for this time until now. Comes before everything that arrived in that time. */
  | { type: 'paused'; ms: number }
