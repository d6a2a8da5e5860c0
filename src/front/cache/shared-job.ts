/** One job and the clients that wait for it: each receives the whole answer, and the job is cancelled when none is left. */

import type { Job } from '../../model/job.ts'
import type { Account, WholeAnswer } from '../../wire/whole-answer.ts'
import { type RequestProblem, refusal } from '../problem.ts'
import { withoutRateLimit } from '../rate-limit-fields.ts'
import type { Receiver, Sink } from '../receiver.ts'

/** Node fires longer timers at once. */
const longestTimerMs = 2 ** 31 - 1

/** A client that waits. */
export interface Waiter {
  /** Submitted only if the client cannot share another job. */
  job: Job
  client: Receiver
  arrivedAt: number
}

export interface SharedJobParts {
  /** Receives a whole answer with its age. */
  keep(answer: WholeAnswer, account: Account, ageMs: number): void
  /** No further client may join. May be called more than once. */
  closed(): void
  /** All clients are answered, disconnected or moved to another job. */
  ended(): void
  /** Starts another job for these clients. */
  again(waiters: readonly Waiter[]): void
  /** Starts a job for this client alone. */
  alone(waiter: Waiter): void
}

export class SharedJob implements Receiver {
  readonly job: Job
  readonly #mostBytes: number
  readonly #leader: Waiter
  readonly #parts: SharedJobParts
  readonly #now: () => number
  readonly #startedAt: number
  /** With the timers of their deadlines. */
  readonly #waiting = new Map<Waiter, NodeJS.Timeout | undefined>()
  #running = false
  #begun = false
  #gone = () => {}

  /** Answers up to `mostBytes` are shared and kept. */
  constructor(leader: Waiter, now: () => number, mostBytes: number, parts: SharedJobParts) {
    this.job = leader.job
    this.#mostBytes = mostBytes
    this.#leader = leader
    this.#parts = parts
    this.#now = now
    this.#startedAt = now()
  }

  /** A request may join a queued job only if its deadline is no earlier: the brain schedules by the job's deadline. */
  takes(waiter: Waiter, freshMs: number): boolean {
    if (this.#now() - this.#startedAt >= freshMs) return false
    return this.#running || deadlineOf(waiter.job) >= deadlineOf(this.job)
  }

  add(waiter: Waiter): void {
    this.#waiting.set(waiter, undefined)
    if (deadlineOf(waiter.job) < deadlineOf(this.job)) this.#watch(waiter)
    waiter.client.onGone(() => this.#leave(waiter))
  }

  /** A stream can go to one client only; several wait for the whole answer. */
  get takesStreams(): boolean {
    return this.#waiting.size === 1
  }

  mayHold(bytes: number): boolean {
    if (bytes <= this.#mostBytes) return true
    const [only, another] = this.#waiting.keys()
    return only !== undefined && another === undefined && only.client.mayHold(bytes)
  }

  onGone(then: () => void): void {
    this.#gone = then
  }

  attempted(): void {
    this.#running = true
  }

  deliver(answer: WholeAnswer, account: Account): void {
    const waiting = this.#close()
    if (answer.body.length <= this.#mostBytes)
      this.#parts.keep(answer, account, this.#now() - this.#startedAt)
    for (const waiter of waiting) waiter.client.deliver(answer, this.#accountFor(waiter, account))
    this.#parts.ended()
  }

  /** A refusal that concerns only some clients moves the others to another job. */
  refuse(problem: RequestProblem, account: Account): void {
    const { concerned = [], others = [] } = Object.groupBy(this.#close(), (waiter) =>
      this.#concerns(problem, waiter) ? 'concerned' : 'others',
    )
    if (others.length > 0) this.#parts.again(others.sort(latestDeadlineFirst))
    for (const waiter of concerned) waiter.client.refuse(problem, this.#accountFor(waiter, account))
    this.#parts.ended()
  }

  /**
   * The answer is streamed or too large to share: one client receives it, each of the others gets a job of its own. A
   * streamed answer that turns out to be short is kept.
   */
  begin(head: Pick<WholeAnswer, 'status' | 'fields'>, account: Account): Sink {
    const waiting = [...this.#waiting.keys()]
    // A client with a later deadline would be broken off at the job's.
    const first = waiting.find(({ job }) => deadlineOf(job) <= deadlineOf(this.job))
    this.#begun = true
    this.#parts.closed()
    for (const other of waiting) {
      if (other === first) continue
      this.#parts.alone(other)
      this.#leave(other)
    }
    if (!first) return nowhere
    const sink = first.client.begin(head, this.#accountFor(first, account))
    return copying(sink, this.#mostBytes, (body) => {
      const fields = { ...head.fields, 'content-length': `${body.length}` }
      this.#parts.keep({ ...head, fields, body }, account, this.#now() - this.#startedAt)
    })
  }

  breakOff(): void {
    for (const waiter of this.#close()) waiter.client.breakOff()
    this.#parts.ended()
  }

  closeAfterwards(): void {
    for (const { client } of this.#waiting.keys()) client.closeAfterwards()
  }

  #concerns(problem: RequestProblem, { job }: Waiter): boolean {
    if (this.#begun) return true
    if (ofDeadlines.has(problem.code)) return deadlineOf(job) <= deadlineOf(this.job)
    return !ofClients.has(problem.code) || job.client === this.job.client
  }

  /** The client's deadline is earlier than the job's, so the brain does not enforce it. */
  #watch(waiter: Waiter): void {
    const leftMs = deadlineOf(waiter.job) - this.#now()
    const isLast = leftMs <= longestTimerMs
    const then = () => {
      if (!isLast) return this.#watch(waiter)
      const afterMs = Math.round(deadlineOf(waiter.job) - waiter.arrivedAt)
      const account = this.#accountFor(waiter, { 'plimsoll-job': this.job.id })
      waiter.client.refuse(refusal({ code: 'deadline', afterMs }), account)
      this.#leave(waiter)
    }
    this.#waiting.set(waiter, setTimeout(then, Math.min(longestTimerMs, Math.max(0, leftMs))))
  }

  #leave(waiter: Waiter): void {
    if (!this.#forget(waiter) || this.#waiting.size > 0) return
    this.#parts.closed()
    this.#gone()
    this.#parts.ended()
  }

  #forget(waiter: Waiter): boolean {
    clearTimeout(this.#waiting.get(waiter))
    return this.#waiting.delete(waiter)
  }

  #close(): Waiter[] {
    const waiting = [...this.#waiting.keys()]
    for (const waiter of waiting) this.#forget(waiter)
    this.#parts.closed()
    return waiting
  }

  #accountFor(waiter: Waiter, account: Account): Account {
    if (waiter === this.#leader) return account
    const waitedMs = this.#now() - waiter.arrivedAt
    return {
      ...withoutRateLimit(account),
      'plimsoll-cache': 'shared',
      'server-timing': `shared;dur=${waitedMs.toFixed(3)}`,
    }
  }
}

/** Refusals that do not concern clients with later deadlines. */
const ofDeadlines: ReadonlySet<string> = new Set(['deadline', 'no-time', 'no-time-for-all'])

/** Refusals that do not concern other clients. */
const ofClients: ReadonlySet<string> = new Set(['rate-limit', 'overloaded'])

function deadlineOf({ deadlineAt = Infinity }: Job): number {
  return deadlineAt
}

/** The next job has the latest deadline, so that no client is moved again because of another's. */
function latestDeadlineFirst(a: Waiter, b: Waiter): number {
  const [first, second] = [deadlineOf(a.job), deadlineOf(b.job)]
  return first === second ? 0 : second - first
}

const nowhere: Sink = { write: () => undefined, end() {} }

/** Passes on what is written. If that is at most `longest` bytes, `keep` receives it all at the end. */
function copying(sink: Sink, longest: number, keep: (body: Buffer) => void): Sink {
  let copy: Buffer[] = []
  let bytes = 0
  return {
    write(chunk) {
      bytes += chunk.length
      if (bytes <= longest) copy.push(chunk)
      else copy = []
      return sink.write(chunk)
    },
    end(trailers) {
      sink.end(trailers)
      if (bytes <= longest) keep(Buffer.concat(copy))
    },
  }
}
