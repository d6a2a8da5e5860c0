/** The messages between a worker and the brain. docs/reference/protocol.md describes them. */

import type { AttemptToken, HeldAttempt } from '../model/attempt.ts'
import type { WorkDone } from '../model/cost.ts'
import type { DisciplineName } from '../model/discipline.ts'
import type { Precedence } from '../model/job.ts'
import type { Following } from '../model/metering.ts'
import type { SlotStarts, WorkerFacts } from '../model/worker.ts'
import type { NotLeader } from './leading.ts'
import type { OpenPrograms } from './programs.ts'

/** Raised with every incompatible change. */
export const wireVersion = 9

/** Where the connection is opened: an upgrade of a GET on the admin port. */
export const wirePath = '/-/wire'
export const wireProtocol = 'plimsoll'

/** Where a worker accepts attempts: a POST on its port. */
export const attemptPath = '/attempt'
/** Where a worker answers pings: a GET on its port. */
export const healthPath = '/health'
/** The protocol of a front's upgrade request to a worker, for clients that switch protocols. */
export const attemptProtocol = 'plimsoll-attempt'
/** The protocol of a front's upgrade request for the body of a long answer. */
export const channelProtocol = 'plimsoll-channel'

/** The first message of a worker, also after a reconnect. */
export interface WorkerHello {
  type: 'hello'
  version: number
  worker: WorkerFacts
  launch?: string
  /** Its process, for operators on its machine. */
  pid: number
  /** Drawn at its start: tells it from an earlier process with the same id. */
  instance?: string
  /** Where fronts reach it. */
  address: { host: string; port: number; tls?: true }
  /** The hash of each workload's code. */
  code: Record<string, string>
  seq: number
  held: HeldAttempt[]
  /** Why it cannot run jobs now: no program of an existing server is healthy. */
  problem?: string
  /** Undefined: none. */
  programs?: OpenPrograms
  /** It joins only the cluster that leads, and no leader of an earlier term than this one. Undefined: it joins any cluster. */
  follows?: number
}

export type FromWorker =
  | WorkerHello
  /**
   * Heartbeat. `cpuMs`: CPU time that it and its jobs used or waited for so far. `smallMb`: memory of slots that run small
   * jobs; undefined: none do. `slotStarts`: undefined if a start has not been measured yet.
   */
  | {
      type: 'report'
      seq: number
      held: HeldAttempt[]
      cpuMs?: number
      smallMb?: number
      slotStarts?: SlotStarts
      role?: string
      problem?: string
      programs?: OpenPrograms
    }
  /** It asks to leave; `why` and `ms` are for the scaler that assigned its role. */
  | { type: 'leave-request'; why: string; ms: number }
  /** `waiting`: whether it waits for input or output from now on; undefined: as before. */
  | ({ type: 'progress'; done: number; waiting?: boolean } & AttemptToken)
  /** Work counted so far of a running job. */
  | ({ type: 'metrics' } & AttemptToken & WorkDone)
  | ({ type: 'ready' } & AttemptToken)
  /** It was told to end: it drains, and waits for `end`. */
  | { type: 'leaving' }

export type FromBrain =
  | { type: 'welcome'; epoch: number; beatMs: number; discipline: DisciplineName; following: Following }
  /** The worker may not join, and ends. */
  | { type: 'refused'; message: string }
  | NotLeader
  /** A sign of life, for workers that would go to another cluster. */
  | { type: 'beat' }
  | ({ type: 'go' } & AttemptToken)
  | ({ type: 'cancel' } & AttemptToken)
  /** New precedence of the attempt. */
  | ({ type: 'rank'; precedence: Precedence } & AttemptToken)
  /** Its role and the settings of that role. Repeated until heartbeats name the role. A front joins with `frontToken`. */
  | { type: 'assign'; role: string; settings: unknown; frontToken?: string }
  /** Its request to leave is denied, with the reason as text. */
  | { type: 'deny'; message: string }
  /** No more attempts follow. */
  | { type: 'drain' }
  /** End now, even with attempts running. `lost`: the brain has given it up. `message`: why. */
  | { type: 'end'; message?: string; lost?: true }

/** The head of an attempt, before its body. */
export interface AttemptHead extends AttemptToken {
  workload: string
  params: unknown
  /** Predicted work and its 95th percentile. */
  work: number
  high?: number
  /** See `Job`. */
  unproven?: true
  preemptible: boolean
  /** CPU time that the job may use. Undefined: any. */
  maxCpuMs?: number
  /** Undefined: none. */
  precedence?: Precedence
  /** True: the worker sends `ready` and waits for `go`. */
  ask: boolean
  /** A request to a program, passed on unchanged; then `params` is null. */
  http?: HttpRequest
  /** The front can receive the body of a long answer on a connection of its own. */
  channel?: true
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
  /** Length of the JSON head before the body. */
  headBytes: 'plimsoll-head-bytes',
  outcome: 'plimsoll-outcome',
  work: 'plimsoll-work',
  tally: 'plimsoll-tally',
  cpuMs: 'plimsoll-cpu-ms',
  wallMs: 'plimsoll-wall-ms',
  peakMemoryMb: 'plimsoll-peak-memory-mb',
  /** How work was measured: see `Measure`. */
  measure: 'plimsoll-measure',
  /** Trailers of a request or an answer as one header: JSON of names and values in turn. */
  trailers: 'plimsoll-trailers',
  /** Present: the workload produces its answer bit by bit, and each chunk must reach the client at once. */
  streamed: 'plimsoll-streamed',
  /** Why an answer broke off, URL-encoded. */
  failure: 'plimsoll-failure',
  /** The head of an attempt or of its answer if another protocol follows: JSON in base64url. */
  head: 'plimsoll-head',
  /** The body of the answer waits for a connection that names this ticket. */
  channel: 'plimsoll-channel',
} as const

/** The body of a worker's answer to an attempt without a result. */
export interface FailedAttempt {
  message: string
  /** 400 to 499: the message is for the client. Default 500: it is for the operator. */
  status?: number
  stack?: string | undefined
}

/** How an attempt ended, as reported to the front. */
export type AttemptOutcome =
  | 'result'
  | 'error'
  | 'limit'
  | 'cost-limit'
  | 'crash'
  | 'killed'
  | 'unready'
  | 'refused'
  | 'cancelled'
  /** Functions only. */
  | 'throttled'
  | 'timeout'
