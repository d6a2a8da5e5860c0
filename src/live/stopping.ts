/** Stops a live cluster: refuses new requests, lets running jobs finish, then closes everything. */

import type { Server } from 'node:http'
import type { Server as NetServer } from 'node:net'
import { RequestProblem, retryAfter } from '../front/problem.ts'
import { spreadMs } from '../lib/retry-times.ts'
import type { OpenJobs } from './open-jobs.ts'

/** Time allowed for the last answers to be sent, even if the limit has passed. */
const leastFlushMs = 1_000
/** How long a start takes, until one was measured. */
const guessedStartMs = 5_000

export class Stopping {
  #stopped: Promise<void> | undefined
  #until = 0
  #jobs: OpenJobs | undefined
  readonly refusal = new StopRefusal()

  get isStopping(): boolean {
    return this.#stopped !== undefined
  }

  /** Why requests are refused; undefined: they are accepted. */
  problem(): RequestProblem | undefined {
    return this.isStopping ? this.#problem() : undefined
  }

  #problem(): RequestProblem {
    const isBusy = this.#jobs !== undefined && this.#jobs.size > 0
    return this.refusal.problem(isBusy ? Math.max(0, this.#until - performance.now()) : 0)
  }

  /** Time left for sending answers. */
  flushMs(): number {
    return Math.max(leastFlushMs, this.#until - performance.now())
  }

  /** `opened` is closed in reverse order of opening. Idempotent. */
  stop(limitMs: number, parts: StopParts): Promise<void> {
    this.#stopped ??= this.#stop(limitMs, parts)
    return this.#stopped
  }

  async #stop(limitMs: number, { announce, jobs, opened }: StopParts): Promise<void> {
    this.#until = performance.now() + limitMs
    this.#jobs = jobs
    announce()
    // The port stays open, so that new requests are answered with a problem.
    await jobs.ended(limitMs)
    for (const job of jobs.all()) job.abandon(this.#problem())
    await opened.disposeAsync()
  }
}

export interface StopParts {
  /** Tells front processes. */
  announce(): void
  jobs: OpenJobs
  opened: AsyncDisposableStack
}

/** The refusal of requests while a process stops. The next one is expected to take as long to start as this one took. */
export class StopRefusal {
  readonly #began = performance.now()
  #startMs: number | undefined
  #refused = 0

  /** The process has started, in the time since this object was created. Only the first call counts. */
  started(): void {
    this.#startMs ??= performance.now() - this.#began
  }

  async startedAfter(steps: readonly unknown[]): Promise<void> {
    await Promise.all(steps)
    this.started()
  }

  /** `leftMs`: time until the process ends. */
  problem(leftMs = 0): RequestProblem {
    const ms = spreadMs(leftMs + (this.#startMs ?? guessedStartMs), ++this.#refused)
    const headers = { ...retryAfter(ms), connection: 'close' }
    return new RequestProblem(503, 'stopping', 'The cluster is stopping.', { headers })
  }
}

/** Closes connections as they become idle, and all of them after the limit. `listener`: the one that accepts them. */
export async function closeFront(front: Server, limitMs: number, listener: NetServer = front): Promise<void> {
  const closed = Promise.withResolvers<void>()
  listener.close(() => closed.resolve())
  const sweep = setInterval(() => front.closeIdleConnections(), 10)
  const limit = setTimeout(() => front.closeAllConnections(), limitMs)
  await closed.promise
  clearInterval(sweep)
  clearTimeout(limit)
}
