import type { AttemptToken } from './attempt.ts'
import type { Outcome, Precedence } from './job.ts'
import type { Reason } from './reason.ts'

/** What the brain wants done. */
export type Action =
  | ({
      type: 'run'
      worker: string
      /** Undefined: none. */
      precedence?: Precedence
      reason: Reason
    } & AttemptToken)
  /** Run this attempt in a function. Its end comes as that of any attempt, with the function as `worker`. */
  | ({ type: 'overflow'; function: string; reason: Reason } & AttemptToken)
  | ({ type: 'go'; worker: string } & AttemptToken)
  /** From now on the attempt has this precedence. */
  | ({ type: 'rank'; worker: string; precedence: Precedence; reason: Reason } & AttemptToken)
  | ({ type: 'cancel'; worker: string; reason: Reason } & AttemptToken)
  /** The job waits in the queue. */
  | { type: 'wait'; job: string; reason: Reason }
  | { type: 'answer'; job: string; outcome: Outcome; reason: Reason }
  /** Four that say what the brain knows, and leave nothing to do. The job lost its core there, */
  | ({ type: 'pause'; worker: string; reason: Reason } & AttemptToken)
  /** or has one again; */
  | ({ type: 'resume'; worker: string; reason: Reason } & AttemptToken)
  /** it has done more than it was taken to need, and is now taken to need more; */
  | ({ type: 'revise'; worker: string; reason: Reason } & AttemptToken)
  /** this attempt has come to nothing, and another follows. */
  | ({ type: 'retry'; worker: string; reason: Reason } & AttemptToken)
  /** A message of a superseded attempt was recognised and ignored. */
  | ({ type: 'drop'; reason: Reason } & AttemptToken)
  | { type: 'launch'; launch: string; reason: Reason }
  /** Nobody waits for this launch any more: end whatever came of it, or still comes. Idempotent. */
  | { type: 'abandon'; launch: string; reason: Reason }
  | { type: 'drain'; worker: string; reason: Reason }
  /** The worker has this role from now on. Only the scaler and the worker interpret `role` and `settings`, which is JSON. */
  | { type: 'assign'; worker: string; role: string; settings: unknown; reason: Reason }
  /** The worker's request to leave is denied. */
  | { type: 'deny'; worker: string; reason: Reason }
  /** End this worker, whatever it holds. Idempotent. */
  | { type: 'terminate'; worker: string; reason: Reason }
  | { type: 'wake'; at: number }
