/** A job whose client is at a front elsewhere: what the brain wants done is told to that front, and what it says to the brain. */

import { brainWork } from '../../estimate/route-units.ts'
import type { OpenJob } from '../../front/open-job.ts'
import type { RequestProblem } from '../../front/problem.ts'
import type { Functions } from '../../front/transports/function.ts'
import type { AttemptEnd, Upstream } from '../../front/transports/transport.ts'
import type { Action } from '../../model/action.ts'
import type { AttemptToken } from '../../model/attempt.ts'
import type { Cost } from '../../model/cost.ts'
import type { Event } from '../../model/event.ts'
import type { Outcome, Precedence } from '../../model/job.ts'
import type { AttemptEvent, Quoted, ToFront } from '../../wire/front-messages.ts'

export interface FarJobParts {
  facts: OpenJob['parts']
  estimateMs: number
  send(message: ToFront): void
  tell(event: Event): void
  over(job: OpenJob): void
}

export class FarJob implements OpenJob {
  readonly #parts: FarJobParts
  readonly startedAt = Date.now()
  #function: { abort: AbortController; end: PromiseWithResolvers<AttemptEnd> } | undefined
  #going: { attempt: number; go: () => void } | undefined
  attempts = 0
  outcome: Outcome = 'unknown'
  cost: Cost | undefined
  worker = ''

  constructor(parts: FarJobParts) {
    this.#parts = parts
  }

  get parts(): OpenJob['parts'] {
    return this.#parts.facts
  }

  run(token: AttemptToken, place: Upstream | Functions, precedence?: Precedence): void {
    this.cancelAttempt()
    this.attempts = token.attempt
    this.worker = place.id
    this.cost = undefined
    if ('invoke' in place) void this.#runAway(token, place)
    else
      this.#parts.send({
        type: 'run',
        ...token,
        worker: place.id,
        ...(precedence && { precedence }),
        ...this.#quoted(),
      })
  }

  commit(token: AttemptToken, go: () => void): void {
    this.#going = { attempt: token.attempt, go }
    const { epoch, job, attempt } = token
    this.#parts.send({ type: 'go', epoch, job, attempt })
  }

  /** Its front knows that the attempt may start. */
  going({ attempt }: AttemptToken): void {
    if (this.#going?.attempt !== attempt) return
    const { go } = this.#going
    this.#going = undefined
    go()
  }

  /** Of a function: a worker is told by itself. */
  cancelAttempt(): void {
    this.#function?.abort.abort()
    this.#function = undefined
  }

  settle({ job, outcome, reason }: Extract<Action, { type: 'answer' }>): void {
    this.outcome = outcome
    this.cancelAttempt()
    this.#parts.send({ type: 'answer', job, outcome, reason })
    this.#parts.over(this)
  }

  abandon({ status, code, message, headers }: RequestProblem): void {
    this.cancelAttempt()
    const problem = { status, code, message, headers: { ...headers } }
    this.#parts.send({ type: 'abandon', job: this.parts.job.id, problem })
    this.#parts.over(this)
  }

  /** Its client is gone, or its front. */
  cancel(): void {
    this.cancelAttempt()
    this.#parts.tell({ type: 'cancelled', job: this.parts.job.id })
    this.#parts.over(this)
  }

  /** What its front says of an attempt; that of an older one is the brain's to recognise. */
  heard(event: AttemptEvent, cost: Cost | undefined): void {
    const isCurrent = event.attempt === this.attempts && event.worker === this.worker
    if (isCurrent && event.type !== 'answering') {
      this.cost = cost
      if (this.#function) return endWith(this.#function.end, event, cost)
    }
    this.#parts.tell(event)
  }

  /** The function is held for as long as the front has its attempt there. */
  async #runAway(token: AttemptToken, functions: Functions): Promise<void> {
    const away = { abort: new AbortController(), end: Promise.withResolvers<AttemptEnd>() }
    // It may have been given up before.
    away.end.promise.catch(() => {})
    this.#function = away
    const isCurrent = () => this.#function === away
    const carry = ({ address }: Upstream) => {
      const { id: worker } = functions
      if (isCurrent()) this.#parts.send({ type: 'run', ...token, worker, address, ...this.#quoted() })
      return away.end.promise
    }
    let end: AttemptEnd | undefined
    let trouble = ''
    try {
      end = await functions.invoke(this.parts.job.workload, away.abort.signal, carry)
    } catch (error) {
      trouble = (error as NodeJS.ErrnoException).code ?? (error as Error).message
    }
    if (!isCurrent()) return
    this.#function = undefined
    const { cost } = this
    const work = cost && { work: brainWork(cost) }
    const of = { ...token, worker: functions.id }
    if (end?.outcome === 'result') {
      return this.#parts.tell({ type: 'finished', ...of, work: this.parts.job.work, ...work })
    }
    // Whatever the front still has of it is of no use.
    this.#parts.send({ type: 'let-go', ...token })
    const kind = !end ? 'unreachable' : end.outcome === 'cancelled' ? 'refused' : end.outcome
    const message = end?.message ?? trouble
    this.#parts.tell({ type: 'failed', ...of, kind, message, ...(kind !== 'unreachable' && work) })
  }

  #quoted(): Quoted {
    const { work, high } = this.parts.job
    return { work, ...(high !== undefined && { high }), estimateMs: this.#parts.estimateMs }
  }
}

function endWith(
  end: PromiseWithResolvers<AttemptEnd>,
  event: Exclude<AttemptEvent, { type: 'answering' }>,
  cost: Cost | undefined,
): void {
  const measured = cost && { cost }
  if (event.type === 'finished') return end.resolve({ outcome: 'result', ...measured })
  const { kind, message = '' } = event
  if (kind === 'unreachable') end.reject(new Error(message))
  else end.resolve({ outcome: kind, message, status: 500, ...measured })
}
