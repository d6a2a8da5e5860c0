/** One job and those who wait for it: each is given the whole answer, and the job ends when nobody waits. */

import type { Job } from '../../model/job.ts'
import type { Account, WholeAnswer } from '../../wire/whole-answer.ts'
import { type RequestProblem, refusal } from '../problem.ts'
import type { Receiver, Sink } from '../receiver.ts'

/** A longer timer would fire at once. */
const longestTimerMs = 2 ** 31 - 1

/** A client who waits. */
export interface Waiter {
  /** Its own; the brain is told of it only where it cannot wait for that of another. */
  job: Job
  client: Receiver
  arrivedAt: number
}

export interface SharedJobParts {
  /** Given an answer that is whole, and how old it is. */
  keep(answer: WholeAnswer, account: Account, ageMs: number): void
  /** Nobody may join any more; may be called more than once. */
  closed(): void
  /** All who waited are answered, gone or handed on. */
  over(): void
  /** A job for these, in place of this one. */
  again(waiters: readonly Waiter[]): void
  /** A job for this one alone. */
  alone(waiter: Waiter): void
}

export class SharedJob implements Receiver {
  readonly job: Job
  readonly wholeBytes: number
  readonly #leader: Waiter
  readonly #parts: SharedJobParts
  readonly #now: () => number
  readonly #startedAt: number
  /** With what ends their waiting. */
  readonly #waiting = new Map<Waiter, NodeJS.Timeout | undefined>()
  #running = false
  #begun = false
  #gone = () => {}

  constructor(leader: Waiter, now: () => number, wholeBytes: number, parts: SharedJobParts) {
    this.job = leader.job
    this.wholeBytes = wholeBytes
    this.#leader = leader
    this.#parts = parts
    this.#now = now
    this.#startedAt = now()
  }

  /** Who is in more of a hurry than a job that waits would wait for too long: the brain goes by the job's deadline. */
  takes(waiter: Waiter, freshMs: number): boolean {
    if (this.#now() - this.#startedAt >= freshMs) return false
    return this.#running || deadlineOf(waiter.job) >= deadlineOf(this.job)
  }

  add(waiter: Waiter): void {
    this.#waiting.set(waiter, undefined)
    if (deadlineOf(waiter.job) < deadlineOf(this.job)) this.#watch(waiter)
    waiter.client.onGone(() => this.#leave(waiter))
  }

  onGone(then: () => void): void {
    this.#gone = then
  }

  attempted(): void {
    this.#running = true
  }

  deliver(answer: WholeAnswer, account: Account): void {
    const waiting = this.#close()
    this.#parts.keep(answer, account, this.#now() - this.#startedAt)
    for (const waiter of waiting) waiter.client.deliver(answer, this.#accountFor(waiter, account))
    this.#parts.over()
  }

  /** What is the matter with one of them alone is no answer to the others: they are given another job. */
  refuse(problem: RequestProblem, account: Account): void {
    const { concerned = [], others = [] } = Object.groupBy(this.#close(), (waiter) =>
      this.#concerns(problem, waiter) ? 'concerned' : 'others',
    )
    if (others.length > 0) this.#parts.again(others.sort(latestDeadlineFirst))
    for (const waiter of concerned) waiter.client.refuse(problem, this.#accountFor(waiter, account))
    this.#parts.over()
  }

  /** It is too long to be kept for those who are slow: one is given it, and each of the others a job of its own. */
  begin(head: Pick<WholeAnswer, 'status' | 'fields'>, account: Account): Sink {
    const waiting = [...this.#waiting.keys()]
    // For another it might be broken off at a deadline that is not its own.
    const first = waiting.find(({ job }) => deadlineOf(job) <= deadlineOf(this.job))
    this.#begun = true
    this.#parts.closed()
    for (const other of waiting) {
      if (other === first) continue
      this.#parts.alone(other)
      this.#leave(other)
    }
    return first ? first.client.begin(head, this.#accountFor(first, account)) : nowhere
  }

  breakOff(): void {
    for (const waiter of this.#close()) waiter.client.breakOff()
    this.#parts.over()
  }

  closeAfterwards(): void {
    for (const { client } of this.#waiting.keys()) client.closeAfterwards()
  }

  #concerns(problem: RequestProblem, { job }: Waiter): boolean {
    if (this.#begun) return true
    if (ofDeadlines.has(problem.code)) return deadlineOf(job) <= deadlineOf(this.job)
    return problem.code !== 'rate-limit' || job.client === this.job.client
  }

  /** Its deadline is earlier than that of the job, so nobody else looks after it. */
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
    this.#parts.over()
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
    return { ...account, 'plimsoll-cache': 'shared', 'server-timing': `shared;dur=${waitedMs.toFixed(3)}` }
  }
}

/** Refusals that those with later deadlines need not take. */
const ofDeadlines: ReadonlySet<string> = new Set(['deadline', 'no-time', 'no-time-for-all'])

function deadlineOf({ deadlineAt = Infinity }: Job): number {
  return deadlineAt
}

/** The next job goes by the latest deadline, so that nobody is handed on for that of another again. */
function latestDeadlineFirst(a: Waiter, b: Waiter): number {
  const [first, second] = [deadlineOf(a.job), deadlineOf(b.job)]
  return first === second ? 0 : second - first
}

const nowhere: Sink = { write: () => undefined, end() {} }
