import type { AttemptToken, FailureKind, HeldAttempt } from './attempt.ts'
import type { Job } from './job.ts'
import type { WorkerFacts } from './worker.ts'

/** What happens to the brain. */
export type Event =
  | { type: 'arrived'; job: Job }
  | { type: 'cancelled'; job: string }
  /** An attempt that may start only once asks for permission. */
  | ({ type: 'ready'; worker: string } & AttemptToken)
  | ({ type: 'progressed'; worker: string; done: number } & AttemptToken)
  /** A long answer has begun to come: from here on its connection tells whether it is lost, and not the worker, whose part is soon over. */
  | ({ type: 'answering'; worker: string } & AttemptToken)
  | ({ type: 'finished'; worker: string; work: number } & AttemptToken)
  /** `work`: what was done all the same, where it was measured. */
  | ({ type: 'failed'; worker: string; kind: FailureKind; message?: string; work?: number } & AttemptToken)
  /** `seq` grows with every message of a worker, so that late and doubled ones are recognised. */
  /** `bootMs`: how long it took to come up, where that began before its launch. */
  | {
      type: 'joined'
      worker: WorkerFacts
      launch?: string
      bootMs?: number
      seq: number
      held: HeldAttempt[]
    }
  /** `cpuMs`: the CPU time that its jobs have had since it began, where that is measured. */
  | { type: 'reported'; worker: string; seq: number; held: HeldAttempt[]; cpuMs?: number; role?: string }
  /** A worker asks whether it may leave. The scaler interprets `why`, a code, and `ms`, the time that decided. */
  | { type: 'leave-requested'; worker: string; why: string; ms: number }
  | { type: 'lost'; worker: string; message?: string }
  | { type: 'launch-failed'; launch: string; message?: string }
  /** What the provider says is there, of all that carries our tag; a launch that is there twice stands there twice. */
  | { type: 'listed'; launches: string[]; askedAt: number }
  /** This worker is to go once it is empty: an operator wants it, or it was told so itself and asks for no more. */
  | { type: 'drain'; worker: string; by?: 'worker' }
  | { type: 'tick' }
