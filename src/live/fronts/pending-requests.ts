/** Requests of a front in another process: announced to the brain, held while it is unreachable, answered once. */

import { hash } from 'node:crypto'
import { Exchange } from '../../front/exchange.ts'
import type { OverloadWatch } from '../../front/overload/overload-watch.ts'
import { RequestProblem, refusal, retryAfter } from '../../front/problem.ts'
import { newJobId } from '../../front/request/job-id.ts'
import type { Submission } from '../../front/request/submit.ts'
import { closeUpstream, type OwnedUpstream, upstreamAt } from '../../front/transports/upstream.ts'
import { stackOf } from '../../lib/errors.ts'
import { RecoveryTime } from '../../lib/retry-times.ts'
import type { AttemptToken, FailureKind } from '../../model/attempt.ts'
import type { Event } from '../../model/event.ts'
import {
  type Arrival,
  type FromFront,
  type FrontWelcome,
  longestParams,
  type ToFront,
  type ToldProblem,
} from '../../wire/front-messages.ts'
import type { KnownWorkers } from './known-workers.ts'

export interface PendingRequestsParts {
  workers: KnownWorkers
  /** How long a request is held while the brain is unreachable. */
  holdMs: number
  /** The clock of deadlines. */
  now(): number
  link(): { isUp: boolean; send(message: FromFront): void }
  log(line: string): void
}

interface Pending {
  exchange: Exchange
  /** The attempt that may have started and must not be repeated. */
  going: number
  /** Its last attempt was sent to a function, which ends with its brain. */
  inFunction: boolean
  /** When it started to wait for a brain. */
  since: number
}

/** How often held requests are checked for timeouts. */
const sweepMs = 50
/** How long the brain is unreachable, until it was once. */
const guessedOutageMs = 2_000

export class PendingRequests {
  readonly #parts: PendingRequestsParts
  readonly #all = new Map<string, Pending>()
  /** Not announced to the brain. */
  readonly #held = new Set<Pending>()
  readonly #outage = new RecoveryTime(guessedOutageMs)
  #sweep: NodeJS.Timeout | undefined
  /** Maximum number of held requests. */
  queue = 0
  /** Why requests are refused; undefined: they are accepted. */
  closed: RequestProblem | undefined
  /** Of this process. Undefined: it does not serve yet. */
  overload: Pick<OverloadWatch, 'amend'> | undefined
  /** Of the last brain. */
  #epoch = 0
  /** True: new requests are held for the next brain, although this one is still connected. */
  holding = false

  constructor(parts: PendingRequestsParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#all.size
  }

  submit(parts: Submission): void {
    if (this.closed) return parts.receiver.refuse(this.closed, {})
    const direct = this.#parts.link().isUp && !this.holding
    if (!direct && this.#held.size >= this.queue) return parts.receiver.refuse(this.noBrain(), {})
    const { log, workers } = this.#parts
    const { token } = workers
    const exchange: Exchange = new Exchange({
      ...parts,
      ...{ token, log },
      tell: (event) => this.#tell(exchange, event),
      ended: () => this.#ended(exchange),
    })
    const entry: Pending = { exchange, going: 0, inFunction: false, since: performance.now() }
    this.#all.set(parts.job.id, entry)
    if (direct) return this.#announce(entry)
    this.#held.add(entry)
    this.#watch()
  }

  /** A brain is connected: the previous one, which may have given up this front, or a new one that knows no request. */
  welcomed({ resumed, queue, epoch }: Pick<FrontWelcome, 'resumed' | 'queue' | 'epoch'>): void {
    this.queue = queue
    this.#outage.ends()
    const isNew = epoch !== this.#epoch
    this.#epoch = epoch
    this.holding = false
    clearInterval(this.#sweep)
    this.#sweep = undefined
    if (!resumed)
      for (const entry of [...this.#all.values()]) if (!(isNew && this.#goesOn(entry))) this.#startOver(entry)
    for (const entry of this.#held) this.#announce(entry)
  }

  /** The brain is unreachable. */
  lost(): void {
    this.#outage.begins()
    for (const entry of this.#all.values()) entry.since = performance.now()
    this.#watch()
  }

  receive(message: Extract<ToFront, { type: 'run' | 'go' | 'let-go' | 'answer' | 'abandon' }>): void {
    const entry = this.#all.get(message.job)
    if (message.type === 'run') return this.#run(entry, message)
    if (message.type === 'go') return this.#go(entry, message)
    if (!entry) return
    const { exchange } = entry
    if (message.type === 'answer') exchange.settle(this.overload?.amend(message) ?? message)
    else if (message.type === 'abandon') exchange.abandon(problemOf(message.problem))
    else if (exchange.attempts === message.attempt) exchange.cancelAttempt()
  }

  /** Makes all further answers close their connections. */
  closeAfterwards(): void {
    for (const { exchange } of this.#all.values()) exchange.parts.receiver.closeAfterwards()
  }

  /** Answers all remaining and further requests with this problem. */
  abandon(problem: RequestProblem): void {
    this.closed = problem
    for (const { exchange } of [...this.#all.values()]) this.#giveUp(exchange, problem)
  }

  close(): void {
    clearInterval(this.#sweep)
  }

  /** The brain is expected back after as long as the last times. */
  noBrain(): RequestProblem {
    return new RequestProblem(
      503,
      'no-brain',
      'This front cannot reach the coordinator of the cluster; try again.',
      { headers: retryAfter(this.#outage.retryAfterMs()) },
    )
  }

  #run(entry: Pending | undefined, message: Extract<ToFront, { type: 'run' }>): void {
    const { epoch, job, attempt, worker, address } = message
    const { work, high, estimateMs } = message
    if (!entry) return
    entry.inFunction = address !== undefined
    const { exchange } = entry
    const { parts } = exchange
    Object.assign(parts.job, { work, ...(high !== undefined && { high }) })
    if (exchange.attempts === 0) parts.estimateMs += estimateMs
    const token = { epoch, job, attempt }
    // Whatever it was, the job goes on elsewhere or ends with an answer.
    const failed = (kind: FailureKind, message: string) => {
      this.#parts.log(`job ${job}: attempt ${attempt} could not be sent to ${worker}: ${message}`)
      const blameless = kind === 'error' && { blameless: true as const }
      const event = { type: 'failed', ...token, worker, kind, message, ...blameless } as const
      if (this.#all.get(job) === entry) this.#parts.link().send({ type: 'attempt', event })
    }
    const { workers } = this.#parts
    let known: OwnedUpstream | undefined
    try {
      known = address ? upstreamAt(worker, address, workers.token) : workers.get(worker)
    } catch (error) {
      return failed('unreachable', (error as Error).message)
    }
    if (!known) return failed('unreachable', 'it is unknown to this front')
    const run = exchange.run(token, known, message)
    run.catch((error) => failed('error', `internal error: ${stackOf(error)}`))
    if (address) run.catch(() => {}).then(() => closeUpstream(known))
  }

  /** From now on the attempt must not be repeated, even if the brain is lost. */
  #go(entry: Pending | undefined, { epoch, job, attempt }: AttemptToken): void {
    if (entry?.exchange.attempts !== attempt) return
    entry.going = attempt
    this.#parts.link().send({ type: 'going', epoch, job, attempt })
  }

  #announce(entry: Pending): void {
    this.#held.delete(entry)
    this.#parts.link().send({ type: 'arrived', ...arrivalOf(entry.exchange, this.#parts.now()) })
  }

  /** True: a new brain is told of the attempt, with which its worker goes on, or of its failure. */
  #goesOn(entry: Pending): boolean {
    const { exchange, going, inFunction } = entry
    const on = exchange.ongoing
    if (this.#held.has(entry) || !on || inFunction) return false
    const committed = going > 0 && going === on.attempt && { committed: true as const }
    const arrival = arrivalOf(exchange, this.#parts.now())
    this.#parts.link().send({ type: 'arrived', ...arrival, on: { ...on, ...committed } })
    exchange.repeatFailure()
    return true
  }

  #startOver(entry: Pending): void {
    if (this.#held.has(entry)) return
    const { exchange, going } = entry
    const before = exchange.parts.job.id
    // A new id keeps messages for attempts of the old job from matching the new one.
    exchange.startOver(newJobId(), going > 0 && going === exchange.attempts)
    if (!this.#all.delete(before)) return
    entry.going = 0
    this.#all.set(exchange.parts.job.id, entry)
    this.#held.add(entry)
  }

  #tell(exchange: Exchange, event: Event): void {
    const entry = this.#all.get(exchange.parts.job.id)
    if (!entry || this.#held.has(entry)) return
    const { cost } = exchange
    if (event.type === 'cancelled') this.#parts.link().send({ type: 'cancelled', job: event.job })
    else if (event.type === 'answering' || event.type === 'finished' || event.type === 'failed')
      this.#parts.link().send({ type: 'attempt', event, ...(cost && { cost }) })
  }

  #ended(exchange: Exchange): void {
    const { id } = exchange.parts.job
    this.#held.delete(this.#all.get(id)!)
    this.#all.delete(id)
  }

  #watch(): void {
    this.#sweep ??= setInterval(() => this.#checkTimeouts(), sweepMs)
  }

  #checkTimeouts(): void {
    const now = this.#parts.now()
    const until = performance.now() - this.#parts.holdMs
    const { isUp } = this.#parts.link()
    for (const { exchange, since } of isUp ? [...this.#held] : [...this.#all.values()]) {
      const { deadlineAt = Infinity } = exchange.parts.job
      if (deadlineAt <= now) {
        const afterMs = Date.now() - exchange.startedAt
        this.#giveUp(exchange, refusal({ code: 'deadline', afterMs }))
      } else if (since <= until) this.#giveUp(exchange, this.noBrain())
    }
  }

  /** Answers without a brain. A result, or a committed attempt, takes precedence over the problem. */
  #giveUp(exchange: Exchange, problem: RequestProblem): void {
    const job = exchange.parts.job.id
    const entry = this.#all.get(job)
    if (!entry) return
    const announced = !this.#held.has(entry)
    exchange.startOver(job, entry.going > 0 && entry.going === exchange.attempts)
    exchange.abandon(problem)
    if (announced) this.#parts.link().send({ type: 'cancelled', job })
  }
}

function arrivalOf({ parts }: Exchange, now: number): Arrival {
  const { job, question, params, hasBody } = parts
  const text = JSON.stringify(params)
  const isLong = text.length > longestParams
  return {
    job: job.id,
    workload: job.workload,
    key: question.key,
    features: question.features,
    // As the ledger stores long ones.
    params: isLong ? { sha256: hash('sha256', text, 'base64url'), characters: text.length } : params,
    // As with a body, the parameters alone do not identify the request.
    hasBody: hasBody || isLong,
    ...(job.client !== undefined && { client: job.client }),
    ...(job.lane !== undefined && { lane: job.lane }),
    ...(job.deadlineAt !== undefined && { deadlineMs: job.deadlineAt - now }),
    ...(job.safeToRepeat === false && { safeToRepeat: false }),
    ...(job.preemptible === false && { preemptible: false }),
  }
}

export function problemOf({ status, code, message, headers }: ToldProblem): RequestProblem {
  return new RequestProblem(status, code, message, { headers })
}
