/** One client's request, from its first attempt to exactly one answer. */

import { brainWork } from '../estimate/route-units.ts'
import { stackOf } from '../lib/errors.ts'
import type { Action } from '../model/action.ts'
import type { Allowance } from '../model/allowance.ts'
import type { AttemptToken, FailureKind, Ongoing } from '../model/attempt.ts'
import type { Cost } from '../model/cost.ts'
import type { Event } from '../model/event.ts'
import type { Outcome } from '../model/job.ts'
import type { Destination, JobParts, OpenJob, RunTerms } from './open-job.ts'
import { type Failure, failureCode, failureProblem, RequestProblem, refusal } from './problem.ts'
import { rateLimitFields } from './rate-limit-fields.ts'
import type { Receiver } from './receiver.ts'
import { orderOf } from './transports/attempt-json.ts'
import type { Transport, Upstream } from './transports/transport.ts'

/** One error for all: `abort()` without a reason would create an exception and its stack trace for each request. */
const cancelled = new Error('the attempt was cancelled')

/** Longer failure messages are cut: the brain keeps many of them, and a workload may write anything. */
const longestMessage = 4_000

export interface ExchangeParts extends JobParts {
  transport: Transport
  receiver: Receiver
  token: string
  estimateMs: number
  /** CPU time that an attempt may use. Undefined: any. */
  maxCpuMs?: number | undefined
  /** True: clients see messages and stacks of errors that are meant for the operator. */
  exposeErrors: boolean
  tell(event: Event): void
  log(line: string): void
  /** The exchange has ended. */
  ended(exchange: Exchange): void
}

interface Current {
  token: AttemptToken
  abort: AbortController
  ended: boolean
  /** Its answer has begun to arrive. */
  answering: boolean
  /** What the brain was told of its failure. */
  failed?: Event
}

export class Exchange implements OpenJob {
  readonly parts: ExchangeParts
  readonly startedAt = Date.now()
  readonly #arrived = performance.now()
  #sent = 0
  #ended = 0
  #current: Current | undefined
  #failure: Failure | undefined
  #allowance: Allowance | undefined
  #done = false
  /** The current attempt has a result, and the brain knows. */
  #finished = false
  attempts = 0
  outcome: Outcome = 'unknown'
  cost: Cost | undefined
  worker = ''

  constructor(parts: ExchangeParts) {
    this.parts = parts
    parts.receiver.onGone(() => this.#clientClosed())
    parts.transport.onBroken = (problem) => (problem ? this.#malformed(problem) : this.#clientClosed())
  }

  async run(
    token: AttemptToken,
    destination: Destination,
    { precedence, connectMs, allowance }: RunTerms = {},
  ): Promise<void> {
    const { transport, job, maxCpuMs } = this.parts
    this.#allowance = allowance
    this.#abort()
    if (transport.begun) return this.#breakOff()
    const current: Current = { token, abort: new AbortController(), ended: false, answering: false }
    this.#current = current
    this.#finished = false
    this.#sent = performance.now()
    this.attempts = token.attempt
    this.worker = destination.id
    const isCurrent = () => this.#current === current && !this.#done
    const { signal } = current.abort
    const account = () => {
      this.#ended = performance.now()
      return this.#account()
    }
    const answering = () => {
      current.answering = true
      this.parts.tell({ type: 'answering', ...token, worker: destination.id })
    }
    const carry = (upstream: Upstream) =>
      transport.carry({
        ...{ upstream, signal, isCurrent, account, answering },
        order: orderOf(job, token, { precedence, maxCpuMs }),
        token: this.parts.token,
        ...(connectMs !== undefined && { connectMs }),
      })
    try {
      const end = await ('invoke' in destination
        ? destination.invoke(job.workload, signal, carry)
        : carry(destination))
      current.ended = true
      if (!end || !isCurrent()) return
      this.#ended = performance.now()
      this.cost = end.cost
      if (end.outcome === 'result') {
        this.#finished = true
        return this.#tellFinished()
      }
      this.#failure = { message: end.message, status: end.status, stack: end.stack }
      const blameless = end.outcome === 'error' && end.status < 500
      this.#tellFailed(end.outcome === 'cancelled' ? 'refused' : end.outcome, end.message, blameless)
      // Unless the brain has ended the job already, it would send an attempt whose answer nobody can receive.
      if (transport.begun) this.#breakOff()
    } catch (error) {
      if (!isCurrent()) return
      if (transport.begun) return this.#breakOff()
      this.#couldNotSend(error)
    }
  }

  /** An error without a code says nothing about the worker: no other worker would fare better. */
  #couldNotSend(error: unknown): void {
    const { code, message } = error as NodeJS.ErrnoException
    const isOurs = code === undefined && (error instanceof TypeError || error instanceof RangeError)
    const { job, log } = this.parts
    const why = isOurs ? stackOf(error) : (code ?? message)
    log(`job ${job.id}: attempt ${this.attempts} could not be completed on ${this.worker}: ${why}`)
    if (isOurs) this.#tellFailed('error', `the attempt could not be sent: ${message}`, true)
    else this.#tellFailed('unreachable', why)
  }

  /** The last attempt, for a brain that does not know it, unless it has a result. Undefined: there is none. */
  get ongoing(): Ongoing | undefined {
    const current = this.#current
    if (!current || this.#finished || this.#done) return undefined
    const { epoch, attempt } = current.token
    return { worker: this.worker, epoch, attempt, ...(current.answering && { answering: true as const }) }
  }

  /** Tells a brain that has been told of the last attempt how it has failed, if it has. */
  repeatFailure(): void {
    if (this.#current?.failed) this.parts.tell(this.#current.failed)
  }

  commit(_token: AttemptToken, go: () => void): void {
    go()
  }

  cancelAttempt(): void {
    this.#abort()
    this.#current = undefined
  }

  /** Most attempts have ended when their job is settled; an event for each would be costly. */
  #abort(): void {
    if (this.#current?.ended === false) this.#current.abort.abort(cancelled)
  }

  settle(answer: Extract<Action, { type: 'answer' }>): void {
    const { receiver, transport } = this.parts
    this.#done = true
    this.outcome = answer.outcome
    this.#allowance = answer.allowance ?? this.#allowance
    this.cancelAttempt()
    try {
      if (answer.outcome === 'result') transport.deliver(this.#account())
      else receiver.refuse(this.#problem(answer), this.#account())
    } catch (error) {
      this.#couldNotAnswer(error)
    }
    this.parts.ended(this)
  }

  /** For example, the workload has set a header that HTTP does not allow. */
  #couldNotAnswer(error: unknown): void {
    const { job, log, receiver } = this.parts
    log(`job ${job.id}: its answer could not be sent: ${stackOf(error)}`)
    try {
      receiver.refuse(new RequestProblem(502, 'bad-answer', 'The answer to this request cannot be sent.'), {})
    } catch {
      receiver.breakOff()
    }
  }

  abandon(problem: RequestProblem): void {
    if (this.#done) return
    this.#done = true
    this.cancelAttempt()
    this.parts.receiver.refuse(problem, this.#account())
    this.parts.ended(this)
  }

  /**
   * The brain that knew of the job is lost. A result is delivered; an answer that has begun breaks off; a `committed`
   * attempt ends the job with an unknown outcome. Otherwise the request starts over as this job.
   */
  startOver(job: string, committed: boolean): void {
    if (this.#done) return
    if (this.#finished)
      return this.settle({ type: 'answer', job, outcome: 'result', reason: { code: 'finished' } })
    if (this.parts.transport.begun) return this.#breakOff()
    if (committed) {
      const reason = { code: 'outcome-unknown', cause: 'brain-lost' }
      return this.settle({ type: 'answer', job, outcome: 'unknown', reason })
    }
    this.cancelAttempt()
    this.parts.job.id = job
    this.parts.receiver.renamed?.(job)
    this.attempts = 0
    this.worker = ''
    this.cost = undefined
    this.#failure = undefined
  }

  #problem({ outcome, reason }: Extract<Action, { type: 'answer' }>): RequestProblem {
    const { exposeErrors, job } = this.parts
    if (outcome !== 'error') return refusal(reason, job.id, exposeErrors ? this.#failure : undefined)
    const failure = this.#failure ?? { message: String(reason.message), status: 500 }
    return failureProblem(failureCode(reason.code), failure, job.id, exposeErrors)
  }

  /** The request turned out to be malformed while its body arrived. */
  #malformed(problem: RequestProblem): void {
    this.#cancel(() => this.parts.receiver.refuse(problem, this.#account()))
  }

  #breakOff(): void {
    this.#cancel(() => this.parts.receiver.breakOff())
  }

  #clientClosed(): void {
    this.#cancel(() => {})
  }

  #cancel(answer: () => void): void {
    if (this.#done) return
    this.#done = true
    this.cancelAttempt()
    answer()
    this.parts.tell({ type: 'cancelled', job: this.parts.job.id })
    this.parts.ended(this)
  }

  /** An attempt that was not measured counts with its predicted work. */
  #tellFinished(): void {
    const { epoch, job, attempt } = this.#current!.token
    const work = this.cost ? brainWork(this.cost) : this.parts.job.work
    this.parts.tell({ type: 'finished', epoch, job, attempt, worker: this.worker, work })
  }

  #tellFailed(kind: FailureKind, message: string, blameless = false): void {
    const { token } = this.#current!
    const more = {
      ...(this.cost && kind !== 'unreachable' && { work: brainWork(this.cost) }),
      ...(blameless && { blameless }),
    }
    const shortened = message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message
    const failed = {
      type: 'failed',
      ...token,
      worker: this.worker,
      kind,
      message: shortened,
      ...more,
    } as const
    this.#current!.failed = failed
    this.parts.tell(failed)
  }

  /** Headers of every answer that describe its job. */
  #account(): Record<string, string> {
    const { job, estimateMs, transport } = this.parts
    const now = performance.now()
    // An answer of the brain, such as that a deadline has passed, comes while the attempt is still running.
    const runMs = this.#sent > 0 ? (this.#ended > this.#sent ? this.#ended : now) - this.#sent : 0
    const queueMs = (this.#sent || now) - this.#arrived
    return {
      'plimsoll-job': job.id,
      'plimsoll-attempts': `${this.attempts}`,
      ...(this.worker && { 'plimsoll-worker': this.worker }),
      ...(this.#allowance && rateLimitFields(this.#allowance)),
      ...(this.cost && !transport.begun && { 'plimsoll-work': `${this.cost.work}` }),
      'server-timing': `estimate;dur=${estimateMs.toFixed(3)}, queue;dur=${queueMs.toFixed(3)}, run;dur=${runMs.toFixed(3)}`,
    }
  }
}
