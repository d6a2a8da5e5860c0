/** A job that has not ended, as the cluster sees it. Its client is connected to this process, or to another front. */

import type { Question, Quote } from '../estimate/estimator.ts'
import type { Action } from '../model/action.ts'
import type { Allowance } from '../model/allowance.ts'
import type { AttemptToken } from '../model/attempt.ts'
import type { Cost } from '../model/cost.ts'
import type { Job, Outcome, Precedence } from '../model/job.ts'
import type { RequestProblem } from './problem.ts'
import type { Functions } from './transports/function.ts'
import type { Upstream } from './transports/transport.ts'

/** A job and its request. */
export interface JobParts {
  job: Job
  question: Question
  quote: Quote
  /** What the ledger stores of the request. */
  params: Record<string, unknown>
  /** True: it has a body besides `params`. */
  hasBody: boolean
}

/** Where an attempt runs: on a worker or in a function. */
export type Destination = Upstream | Functions

/** What the brain decides about an attempt besides where it runs. */
export interface RunTerms {
  precedence?: Precedence | undefined
  /** Time allowed for a connection to a worker. */
  connectMs?: number | undefined
  /** What the client's rate limit leaves. Undefined: it has none. */
  allowance?: Allowance | undefined
}

export interface OpenJob {
  readonly parts: JobParts
  readonly startedAt: number
  readonly attempts: number
  /** Of the last attempt. */
  readonly worker: string
  /** How the job ended for the client. */
  readonly outcome: Outcome
  readonly cost: Cost | undefined
  /** Sends an attempt; an earlier one is cancelled. */
  run(token: AttemptToken, destination: Destination, terms?: RunTerms): unknown
  /** The attempt may start and must not be repeated. Calls `go` once the client's front knows. */
  commit(token: AttemptToken, go: () => void): void
  /** Cancels the current attempt: its worker is lost, or it is not needed. */
  cancelAttempt(): void
  /** Answers the client as the brain decided. */
  settle(answer: Extract<Action, { type: 'answer' }>): void
  /** Ends the job without the brain, for example when the cluster stops. */
  abandon(problem: RequestProblem): void
}
