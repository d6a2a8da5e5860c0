import type { Allowance } from './allowance.ts'
import type { AttemptToken } from './attempt.ts'
import type { Outcome, Precedence } from './job.ts'
import type { Reason } from './reason.ts'

/** A decision of the brain, to be carried out by the live cluster or the simulator. */
export type Action =
  | ({
      type: 'run'
      worker: string
      precedence?: Precedence
      /** Time allowed for the connection to the worker. Default: that of fronts. */
      connectMs?: number
      /** What the client's rate limit leaves. Undefined: it has none. */
      allowance?: Allowance
      reason: Reason
    } & AttemptToken)
  /** Only records what happened: the attempt of an earlier brain goes on. */
  | ({ type: 'adopt'; worker: string; reason: Reason } & AttemptToken)
  /** Run this attempt in a function, which is the `worker` of the event that ends the attempt. */
  | ({ type: 'overflow'; function: string; allowance?: Allowance; reason: Reason } & AttemptToken)
  | ({ type: 'go'; worker: string } & AttemptToken)
  /** Changes the precedence of an attempt. */
  | ({ type: 'rank'; worker: string; precedence: Precedence; reason: Reason } & AttemptToken)
  | ({ type: 'cancel'; worker: string; reason: Reason } & AttemptToken)
  /** The job is queued. */
  | { type: 'wait'; job: string; reason: Reason }
  | { type: 'answer'; job: string; outcome: Outcome; allowance?: Allowance; reason: Reason }
  /** This action and the next three only record what happened. The job lost its core on this worker. */
  | ({ type: 'pause'; worker: string; reason: Reason } & AttemptToken)
  /** The job has a core again. */
  | ({ type: 'resume'; worker: string; reason: Reason } & AttemptToken)
  /** The job has outgrown its estimate, which is revised. */
  | ({ type: 'revise'; worker: string; reason: Reason } & AttemptToken)
  /** This attempt failed, and another follows. */
  | ({ type: 'retry'; worker: string; reason: Reason } & AttemptToken)
  /** A message of a superseded attempt was recognised and ignored. */
  | ({ type: 'drop'; reason: Reason } & AttemptToken)
  | { type: 'launch'; launch: string; reason: Reason }
  /** The brain no longer waits for this launch: end every machine of it, including later ones. Idempotent. */
  | { type: 'abandon'; launch: string; reason: Reason }
  | { type: 'drain'; worker: string; reason: Reason }
  /** The worker has this role from now on. Only the scaler and the worker interpret `role` and `settings`, which is JSON. */
  | { type: 'assign'; worker: string; role: string; settings: unknown; reason: Reason }
  /** The worker's request to leave is denied. */
  | { type: 'deny'; worker: string; reason: Reason }
  /** Ask the worker for a sign of life; a `pong` with this number follows, or nothing. */
  | { type: 'ping'; worker: string; ping: number }
  /** Read the CPU utilisation of all workers elsewhere; a `cpu-read` follows, or nothing. */
  | { type: 'read-cpu' }
  /** This action and the next two only record what happened. The worker is silent, but is not declared lost yet. */
  | { type: 'hold'; worker: string; reason: Reason }
  /** The worker fails or is slow: it gets no jobs for a while. */
  | { type: 'eject'; worker: string; reason: Reason }
  /** An ejected worker gets jobs again. */
  | { type: 'readmit'; worker: string; reason: Reason }
  /** End this worker, even if it still holds jobs. Idempotent. */
  | { type: 'terminate'; worker: string; reason: Reason }
  | { type: 'wake'; at: number }
