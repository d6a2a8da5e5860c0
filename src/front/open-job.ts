/** A job that is not over, as the cluster sees it: in the hands of this process's front, or of one elsewhere. */

import type { Action } from '../model/action.ts'
import type { AttemptToken } from '../model/attempt.ts'
import type { Cost } from '../model/cost.ts'
import type { Outcome, Precedence } from '../model/job.ts'
import type { ExchangeParts } from './exchange.ts'
import type { RequestProblem } from './problem.ts'
import type { Functions } from './transports/function.ts'
import type { Upstream } from './transports/transport.ts'

export interface OpenJob {
  readonly parts: Pick<ExchangeParts, 'job' | 'question' | 'quote' | 'params' | 'hasBody'>
  readonly startedAt: number
  readonly attempts: number
  /** Of the last attempt. */
  readonly worker: string
  /** How it ended for the client, once it is over. */
  readonly outcome: Outcome
  readonly cost: Cost | undefined
  /** Sends an attempt to a worker, or to a function; an earlier one is let go. */
  run(token: AttemptToken, place: Upstream | Functions, precedence?: Precedence): unknown
  /** The attempt may start, and must not be repeated from here on: calls `go` when whoever answers its client knows that. */
  commit(token: AttemptToken, go: () => void): void
  /** The worker of the current attempt is gone, or the attempt is not wanted any more. */
  letGo(): void
  /** What the brain has decided to answer. */
  settle(answer: Extract<Action, { type: 'answer' }>): void
  /** Ends it without the brain, for example because the cluster stops. */
  abandon(problem: RequestProblem): void
}
