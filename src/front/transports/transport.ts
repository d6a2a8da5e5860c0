/** How the attempts of a request reach a worker, and its answer the client. One file for each kind of request. */

import type { Agent } from 'node:http'
import type { Dispatcher } from 'undici'
import type { Cost } from '../../model/cost.ts'
import type { Address } from '../../wire/front-messages.ts'
import type { AttemptOutcome } from '../../wire/messages.ts'
import type { Failure, RequestProblem } from '../problem.ts'
import type { AttemptOrder } from './attempt-json.ts'

/** A worker or a function, as a front reaches it. */
export interface Upstream {
  id: string
  dispatcher: Dispatcher
  /** Used with `agent` for requests that switch protocols or have trailers. */
  address: Address
  agent: Agent
}

/** One attempt on its way. */
export interface Carried {
  upstream: Upstream
  order: AttemptOrder
  /** The secret that authorizes fronts at workers. */
  token: string
  /** Time allowed for a connection to the worker. Default: 10 s. */
  connectMs?: number
  /** Aborted when a newer attempt supersedes this one, or no client waits. */
  signal: AbortSignal
  /** False: the attempt is superseded; its answer is ignored. */
  isCurrent(): boolean
  /** Called when a long answer starts to be streamed. */
  answering(): void
  /** Headers that describe the job; called when the answer starts. */
  account(): Record<string, string>
}

/** How an attempt ended. */
export type AttemptEnd =
  /** Without a cost: it was not measured. */
  { outcome: 'result'; cost?: Cost } | ({ outcome: Exclude<AttemptOutcome, 'result'>; cost?: Cost } & Failure)

export interface Transport {
  /** True: the client has received the start of an answer, so no other answer is possible. */
  readonly begun: boolean
  /**
   * Sends an attempt and receives its answer, whole or streamed to the client. Rejects if the worker cannot be reached
   * or breaks off. Undefined: the attempt is superseded.
   */
  carry(attempt: Carried): Promise<AttemptEnd | undefined>
  /** The brain has accepted the result: sends the answer, or ends one that was streamed. */
  deliver(account: Record<string, string>): void
  /** Set by the exchange. Called when the request's body breaks off: with a problem, or without if the client disconnected. */
  onBroken?: (problem: RequestProblem | undefined) => void
}
