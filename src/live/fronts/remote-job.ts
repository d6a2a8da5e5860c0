/** A job whose client is connected to another front: relays the brain's actions to that front, and its messages back. */

import { brainWork } from '../../estimate/route-units.ts'
import type { Destination, JobParts, OpenJob, RunTerms } from '../../front/open-job.ts'
import type { RequestProblem } from '../../front/problem.ts'
import type { Functions } from '../../front/transports/function.ts'
import type { AttemptEnd, Upstream } from '../../front/transports/transport.ts'
import type { Action } from '../../model/action.ts'
import type { Allowance } from '../../model/allowance.ts'
import type { AttemptToken, Ongoing } from '../../model/attempt.ts'
import type { Cost } from '../../model/cost.ts'
import type { Event } from '../../model/event.ts'
import type { Outcome } from '../../model/job.ts'
import type { AttemptEvent, Quoted, ToFront } from '../../wire/front-messages.ts'

export interface RemoteJobParts {
  facts: JobParts
  estimateMs: number
  /** The attempt that an earlier brain began. Default: none. */
  on?: Ongoing
  send(message: ToFront): void
  tell(event: Event): void
  ended(job: OpenJob): void
}

export class RemoteJob implements OpenJob {
  readonly #parts: RemoteJobParts
  readonly startedAt = Date.now()
  #function: { abort: AbortController; end: PromiseWithResolvers<AttemptEnd> } | undefined
  #going: { attempt: number; go: () => void } | undefined
  attempts = 0
  outcome: Outcome = 'unknown'
  cost: Cost | undefined
  worker = ''

  constructor(parts: RemoteJobParts) {
    this.#parts = parts
    if (!parts.on) return
    this.attempts = parts.on.attempt
    this.worker = parts.on.worker
  }

  get parts(): JobParts {
    return this.#parts.facts
  }

  run(
    token: AttemptToken,
    destination: Destination,
    { precedence, connectMs, allowance }: RunTerms = {},
  ): Promise<void> | undefined {
    this.cancelAttempt()
    this.attempts = token.attempt
    this.worker = destination.id
    this.cost = undefined
    if ('invoke' in destination) return this.#invoke(token, destination, allowance)
    this.#parts.send({
      type: 'run',
      ...token,
      worker: destination.id,
      ...(precedence && { precedence }),
      ...(connectMs !== undefined && { connectMs }),
      ...(allowance && { allowance }),
      ...this.#quoted(),
    })
    return undefined
  }

  commit(token: AttemptToken, go: () => void): void {
    this.#going = { attempt: token.attempt, go }
    const { epoch, job, attempt } = token
    this.#parts.send({ type: 'go', epoch, job, attempt })
  }

  /** The front has acknowledged that the attempt may start. */
  going({ attempt }: AttemptToken): void {
    if (this.#going?.attempt !== attempt) return
    const { go } = this.#going
    this.#going = undefined
    go()
  }

  /** In a function; workers receive the brain's cancel message. */
  cancelAttempt(): void {
    this.#function?.abort.abort()
    this.#function = undefined
  }

  settle({ job, outcome, allowance, reason }: Extract<Action, { type: 'answer' }>): void {
    this.outcome = outcome
    this.cancelAttempt()
    this.#parts.send({ type: 'answer', job, outcome, ...(allowance && { allowance }), reason })
    this.#parts.ended(this)
  }

  abandon({ status, code, message, headers }: RequestProblem): void {
    this.cancelAttempt()
    const problem = { status, code, message, headers: { ...headers } }
    this.#parts.send({ type: 'abandon', job: this.parts.job.id, problem })
    this.#parts.ended(this)
  }

  /** Its client has disconnected, or its front is lost. */
  cancel(): void {
    this.cancelAttempt()
    this.#parts.tell({ type: 'cancelled', job: this.parts.job.id })
    this.#parts.ended(this)
  }

  /** A message about an attempt. The brain recognises superseded ones. */
  receive(event: AttemptEvent, cost: Cost | undefined): void {
    const isCurrent = event.attempt === this.attempts && event.worker === this.worker
    if (isCurrent && event.type !== 'answering') {
      this.cost = cost
      if (this.#function) return endWith(this.#function.end, event, cost)
    }
    this.#parts.tell(event)
  }

  /** Keeps the function reserved while the front runs the attempt in it. */
  async #invoke(token: AttemptToken, functions: Functions, allowance: Allowance | undefined): Promise<void> {
    const call = { abort: new AbortController(), end: Promise.withResolvers<AttemptEnd>() }
    // Nobody handles a rejection that comes after the attempt was cancelled.
    call.end.promise.catch(() => {})
    this.#function = call
    const isCurrent = () => this.#function === call
    const carry = ({ address }: Upstream) => {
      const { id: worker } = functions
      const more = { ...this.#quoted(), ...(allowance && { allowance }) }
      if (isCurrent()) this.#parts.send({ type: 'run', ...token, worker, address, ...more })
      return call.end.promise
    }
    let end: AttemptEnd | undefined
    let trouble = ''
    try {
      end = await functions.invoke(this.parts.job.workload, call.abort.signal, carry)
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
    // The front must not answer with a superseded attempt.
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
