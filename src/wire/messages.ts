/** What workers and the brain say to each other over a worker's one connection. docs/protocol.md describes it. */

import type { AttemptToken, HeldAttempt } from '../model/attempt.ts'
import type { WorkDone } from '../model/cost.ts'
import type { DisciplineName } from '../model/discipline.ts'
import type { Precedence } from '../model/job.ts'
import type { Following } from '../model/metering.ts'
import type { WorkerFacts } from '../model/worker.ts'

/** Raised with every change that an older side would misunderstand. */
export const wireVersion = 6

/** Where the connection is opened: an upgrade of a GET on the admin port. */
export const wirePath = '/-/wire'
export const wireProtocol = 'plimsoll'

/** Where a worker takes attempts: a POST on its own port. */
export const attemptPath = '/attempt'
/** What a front asks a worker to switch to where a client wants to switch protocols. */
export const attemptProtocol = 'plimsoll-attempt'

export type FromWorker =
  | {
      type: 'hello'
      version: number
      worker: WorkerFacts
      launch?: string
      /** Its process, for operators on its machine. */
      pid: number
      /** Where fronts reach it. */
      address: { host: string; port: number }
      /** The hash of each workload's code. */
      code: Record<string, string>
      seq: number
      held: HeldAttempt[]
    }
  /** `cpuMs`: what its jobs have had so far. */
  | { type: 'report'; seq: number; held: HeldAttempt[]; cpuMs?: number; role?: string }
  /** It asks whether it may leave; `why` and `ms` are for the scaler that assigned its role. */
  | { type: 'leave-request'; why: string; ms: number }
  | ({ type: 'progress'; done: number } & AttemptToken)
  /** What was counted so far of a job that runs. */
  | ({ type: 'metrics' } & AttemptToken & WorkDone)
  | ({ type: 'ready' } & AttemptToken)
  /** It was told to end: send nothing more, and say `end` when what it has is done. */
  | { type: 'leaving' }

export type FromBrain =
  | { type: 'welcome'; epoch: number; beatMs: number; discipline: DisciplineName; following: Following }
  /** The worker may not join; it ends itself. */
  | { type: 'refused'; message: string }
  | ({ type: 'go' } & AttemptToken)
  | ({ type: 'cancel' } & AttemptToken)
  /** From now on the attempt has this precedence. */
  | ({ type: 'rank'; precedence: Precedence } & AttemptToken)
  /** It has this role from now on, with these settings. Repeated until its reports name the role. */
  | { type: 'assign'; role: string; settings: unknown }
  /** Its request to leave is denied; why, in words. */
  | { type: 'deny'; message: string }
  /** Nothing more is sent from now on. */
  | { type: 'drain' }
  /** End now, whatever is in hand. */
  | { type: 'end' }

/** What a front sends before the body of an attempt. */
export interface AttemptHead extends AttemptToken {
  workload: string
  params: unknown
  /** Predicted work, and what 95 % of such jobs stay below. */
  work: number
  high?: number
  preemptible: boolean
  /** Undefined: none. */
  precedence?: Precedence
  /** True: say `ready` and wait for `go`. */
  ask: boolean
  /** A client's request to a program of the user's, to be passed on as it is; then `params` is null. */
  http?: HttpRequest
}

/** The head of a request to a program. */
export interface HttpRequest {
  method: string
  target: string
  /** As the client sent them: name and value in turn. */
  headers: string[]
  /** True: the client wants to switch to another protocol, such as WebSocket. */
  upgrade?: true
}

/** The head of a program's answer. */
export interface HttpHead {
  status: number
  message: string
  /** As the program sent them: name and value in turn. */
  headers: string[]
}

/** Headers between front and worker. */
export const headers = {
  /** Bytes of the head, in JSON, before the body proper. */
  headBytes: 'plimsoll-head-bytes',
  outcome: 'plimsoll-outcome',
  work: 'plimsoll-work',
  tally: 'plimsoll-tally',
  cpuMs: 'plimsoll-cpu-ms',
  wallMs: 'plimsoll-wall-ms',
  peakMemoryMb: 'plimsoll-peak-memory-mb',
  /** How work was measured: see `Measure`. */
  measure: 'plimsoll-measure',
  /** Trailers of a client's request or a program's answer, as one: JSON of names and values in turn. */
  trailers: 'plimsoll-trailers',
  /** The head of an attempt, or of its answer, where bytes of another protocol follow: JSON in base64url. */
  head: 'plimsoll-head',
} as const

/** How an attempt ended, as the worker tells the front. */
export type AttemptOutcome =
  | 'result'
  | 'error'
  | 'limit'
  | 'crash'
  | 'killed'
  | 'unready'
  | 'refused'
  | 'cancelled'
  /** Of a function: it has no room just now, or its time is up. */
  | 'throttled'
  | 'timeout'
