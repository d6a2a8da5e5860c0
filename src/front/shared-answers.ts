/** Lets several clients who asked the same wait for one job: each is given the whole answer, and it ends when nobody waits. */

import type { Job } from '../model.ts'
import { type RequestProblem, refusal } from './problem.ts'
import type { Account, Client, Receiver, Sink, WholeAnswer } from './recipient.ts'

/** A longer timer would fire at once. */
const longestTimerMs = 2 ** 31 - 1

/** A client who waits. */
export interface Waiter {
  /** Its own; the brain is told of it only where it cannot wait for that of another. */
  job: Job
  client: Pick<Client, keyof Receiver>
  arrivedAt: number
}

/** What several clients asked. */
export interface Computation {
  /** Longer answers are not shared. */
  wholeBytes: number
  /** Has the job computed, for whoever the receiver stands for. */
  start(job: Job, receiver: Receiver): void
  /** Given each answer that is whole, and how old it is. */
  keep(answer: WholeAnswer, account: Account, ageMs: number): void
  /** Called once, when nothing more is started. */
  over(): void
}

/** The jobs that others may wait for too, by what was asked. */
export class SharedAnswers {
  readonly #open = new Map<string, SharedJob>()
  readonly #now: () => number
  /** How many were not computed for themselves. */
  shared = 0

  /** `now` is the clock of deadlines. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Waits for a job that began less than `freshMs` ago. False: there is none to wait for. */
  join(key: string, waiter: Waiter, freshMs: number): boolean {
    const job = this.#open.get(key)
    if (!job?.takes(waiter, freshMs)) return false
    job.add(waiter)
    this.shared++
    return true
  }

  /** Starts a job; others may wait for it, unless there is no key. */
  lead(key: string | undefined, waiter: Waiter, computation: Computation): void {
    let users = 0
    const begin = (waiters: readonly Waiter[], wholeBytes: number, isOpen: boolean) => {
      const job = new SharedJob(waiters[0]!, this.#now, wholeBytes, {
        keep: computation.keep,
        closed: () => {
          if (key !== undefined && this.#open.get(key) === job) this.#open.delete(key)
        },
        over: () => {
          if (--users === 0) computation.over()
        },
        again: (others) => begin(others, wholeBytes, isOpen),
        alone: (other) => begin([other], other.client.wholeBytes, false),
      })
      users++
      for (const each of waiters) job.add(each)
      if (key !== undefined && isOpen) this.#open.set(key, job)
      computation.start(job.job, job)
    }
    begin([waiter], computation.wholeBytes, true)
  }
}

interface SharedJobParts {
  keep: Computation['keep']
  /** Nobody may join any more; may be called more than once. */
  closed(): void
  /** All who waited are answered, gone or handed on. */
  over(): void
  /** A job for these, in place of this one. */
  again(waiters: readonly Waiter[]): void
  /** A job for this one alone. */
  alone(waiter: Waiter): void
}

/** One job and those who wait for it, the one whose job it is first. */
class SharedJob implements Receiver {
  readonly job: Job
  readonly wholeBytes: number
  readonly #leader: Waiter
  readonly #parts: SharedJobParts
  readonly #now: () => number
  readonly #startedAt: number
  /** With what ends their waiting. */
  readonly #waiting = new Map<Waiter, NodeJS.Timeout | undefined>()
  #running = false
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
    const waiting = this.#close()
    const others = waiting.filter((waiter) => !this.#concerns(problem, waiter))
    if (others.length > 0) this.#parts.again(others.sort(latestDeadlineFirst))
    for (const waiter of waiting) {
      if (!others.includes(waiter)) waiter.client.refuse(problem, this.#accountFor(waiter, account))
    }
    this.#parts.over()
  }

  /** It is too long to be kept for those who are slow: one is given it, and each of the others a job of its own. */
  begin(head: Pick<WholeAnswer, 'status' | 'fields'>, account: Account): Sink {
    const waiting = [...this.#waiting.keys()]
    // For another it might be broken off at a deadline that is not its own.
    const first = waiting.find(({ job }) => deadlineOf(job) <= deadlineOf(this.job))
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

  #concerns(problem: RequestProblem, { job }: Waiter): boolean {
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
