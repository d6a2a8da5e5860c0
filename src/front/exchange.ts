/** One client's request on its way through attempts to exactly one answer. */

import type { Question, Quote } from '../estimate/estimator.ts'
import { brainWork } from '../estimate/route-units.ts'
import type { Action } from '../model/action.ts'
import type { AttemptToken } from '../model/attempt.ts'
import type { Cost } from '../model/cost.ts'
import type { Event } from '../model/event.ts'
import type { Job, Outcome, Precedence } from '../model/job.ts'
import type { AttemptHead } from '../wire/messages.ts'
import type { OpenJob } from './open-job.ts'
import { RequestProblem, refusal } from './problem.ts'
import type { Recipient } from './recipient.ts'
import type { Functions } from './transports/function.ts'
import type { Transport, Upstream } from './transports/transport.ts'

/** Made once: without a reason each request would end with an exception of its own, and a trace of how it came. */
const notWanted = new Error('the attempt is not wanted any more')

/** Of a longer message of a failure the brain is told the beginning: it keeps many, and a workload may say anything. */
const longestMessage = 4_000

export interface ExchangeParts {
  job: Job
  /** What was asked about its cost, and what was said. */
  question: Question
  quote: Quote
  /** What the ledger remembers of the request. */
  params: Record<string, unknown>
  /** True: there is a body besides, so that they alone do not say what was asked. */
  hasBody: boolean
  transport: Transport
  recipient: Recipient
  token: string
  estimateMs: number
  tell(event: Event): void
  /** The exchange is over, one way or the other. */
  over(exchange: Exchange): void
}

export class Exchange implements OpenJob {
  readonly parts: ExchangeParts
  readonly startedAt = Date.now()
  readonly #arrived = performance.now()
  #sent = 0
  #ended = 0
  #current: { token: AttemptToken; abort: AbortController } | undefined
  #failure: { message: string; status: number } | undefined
  #done = false
  /** The current attempt has a result, of which the brain was told. */
  #finished = false
  attempts = 0
  /** How it ended for the client, once it is over. */
  outcome: Outcome = 'unknown'
  cost: Cost | undefined
  worker = ''

  constructor(parts: ExchangeParts) {
    this.parts = parts
    parts.recipient.onGone(() => this.#clientClosed())
    parts.transport.onSpoilt = (problem) => (problem ? this.#spoilt(problem) : this.#clientClosed())
  }

  /** Sends an attempt to a worker, or to a function; an earlier one is let go. */
  async run(token: AttemptToken, place: Upstream | Functions, precedence?: Precedence): Promise<void> {
    const { transport, job } = this.parts
    this.#current?.abort.abort(notWanted)
    if (transport.begun) return this.#breakOff()
    const current = { token, abort: new AbortController() }
    this.#current = current
    this.#finished = false
    this.#sent = performance.now()
    this.attempts = token.attempt
    this.worker = place.id
    const isCurrent = () => this.#current === current && !this.#done
    const { signal } = current.abort
    const account = () => {
      this.#ended = performance.now()
      return this.#account()
    }
    const answering = () => this.parts.tell({ type: 'answering', ...token, worker: place.id })
    const carry = (upstream: Upstream) =>
      transport.carry({
        ...{ upstream, signal, isCurrent, account, answering },
        head: this.#head(token, precedence),
        token: this.parts.token,
      })
    try {
      const end = await ('invoke' in place ? place.invoke(job.workload, signal, carry) : carry(place))
      if (!end || !isCurrent()) return
      this.#ended = performance.now()
      this.cost = end.cost
      if (end.outcome === 'result') {
        this.#finished = true
        return this.#tellFinished()
      }
      this.#failure = { message: end.message, status: end.status }
      this.#tellFailed(end.outcome === 'cancelled' ? 'refused' : end.outcome, end.message)
    } catch (error) {
      if (!isCurrent()) return
      if (transport.begun) return this.#breakOff()
      const message = (error as NodeJS.ErrnoException).code ?? (error as Error).message
      this.#tellFailed('unreachable', message)
    }
  }

  commit(_token: AttemptToken, go: () => void): void {
    go()
  }

  /** The worker of the current attempt is gone, or the attempt is not wanted any more. */
  letGo(): void {
    this.#current?.abort.abort(notWanted)
    this.#current = undefined
  }

  /** What the brain has decided to answer. */
  settle(answer: Extract<Action, { type: 'answer' }>): void {
    const { recipient, transport } = this.parts
    this.#done = true
    this.outcome = answer.outcome
    this.letGo()
    if (answer.outcome === 'result') transport.deliver(this.#account())
    else if (answer.outcome === 'error') {
      const { message, status } = this.#failure ?? { message: String(answer.reason.message), status: 500 }
      const code = answer.reason.code === 'limit' ? 'limit' : 'workload-error'
      recipient.refuse(new RequestProblem(status, code, message), this.#account())
    } else recipient.refuse(refusal(answer.reason, this.#failure?.message), this.#account())
    this.parts.over(this)
  }

  /** Ends the exchange without the brain, for example because the cluster stops. */
  abandon(problem: RequestProblem): void {
    if (this.#done) return
    this.#done = true
    this.letGo()
    this.parts.recipient.refuse(problem, this.#account())
    this.parts.over(this)
  }

  /**
   * The brain that knew of it does not any more. What has a result is answered; what has begun to be, breaks off; what
   * was `committed` is over, its outcome unknown. All else is as if it had just come, and is to arrive as this job.
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
    this.letGo()
    this.parts.job.id = job
    this.attempts = 0
    this.worker = ''
    this.cost = undefined
    this.#failure = undefined
  }

  /** The request cannot be served as it is, which became known only now. */
  #spoilt(problem: RequestProblem): void {
    this.#cancel(() => this.parts.recipient.refuse(problem, this.#account()))
  }

  /** The answer has begun and cannot be completed: the client must see that it is not whole. */
  #breakOff(): void {
    this.#cancel(() => this.parts.recipient.breakOff())
  }

  #clientClosed(): void {
    this.#cancel(() => {})
  }

  #cancel(answer: () => void): void {
    if (this.#done) return
    this.#done = true
    this.letGo()
    answer()
    this.parts.tell({ type: 'cancelled', job: this.parts.job.id })
    this.parts.over(this)
  }

  /** Where nobody could measure it, it is taken to have done what it was expected to. */
  #tellFinished(): void {
    const { epoch, job, attempt } = this.#current!.token
    const work = this.cost ? brainWork(this.cost) : this.parts.job.work
    this.parts.tell({ type: 'finished', epoch, job, attempt, worker: this.worker, work })
  }

  #tellFailed(kind: Extract<Event, { type: 'failed' }>['kind'], message: string): void {
    const { token } = this.#current!
    const work = this.cost && kind !== 'unreachable' ? { work: brainWork(this.cost) } : {}
    const told = message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message
    this.parts.tell({ type: 'failed', ...token, worker: this.worker, kind, message: told, ...work })
  }

  #head({ epoch, job, attempt }: AttemptToken, precedence: Precedence | undefined): AttemptHead {
    const { job: asked, transport } = this.parts
    return {
      epoch,
      job,
      attempt,
      workload: asked.workload,
      ...transport.asked,
      work: asked.work,
      ...(asked.high !== undefined && { high: asked.high }),
      preemptible: asked.preemptible ?? true,
      ...(precedence && { precedence }),
      ask: asked.safeToRepeat === false,
    }
  }

  /** What every answer says about its job. */
  #account(): Record<string, string> {
    const { job, estimateMs, transport } = this.parts
    const runMs = this.#sent > 0 && this.#ended > this.#sent ? this.#ended - this.#sent : 0
    const queueMs = (this.#sent || performance.now()) - this.#arrived
    return {
      'plimsoll-job': job.id,
      'plimsoll-attempts': `${this.attempts}`,
      ...(this.worker && { 'plimsoll-worker': this.worker }),
      ...(this.cost && !transport.begun && { 'plimsoll-work': `${this.cost.work}` }),
      'server-timing': `estimate;dur=${estimateMs.toFixed(3)}, queue;dur=${queueMs.toFixed(3)}, run;dur=${runMs.toFixed(3)}`,
    }
  }
}
