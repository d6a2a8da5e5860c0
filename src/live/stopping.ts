/** Stops a live cluster: refuses new requests, lets running jobs finish, then closes everything. */

import type { Server } from 'node:http'
import { RequestProblem } from '../front/problem.ts'
import type { OpenJobs } from './open-jobs.ts'

/** Time allowed for the last answers to be sent, even if the limit has passed. */
const leastFlushMs = 1_000

export class Stopping {
  #stopped: Promise<void> | undefined
  #until = 0

  get isStopping(): boolean {
    return this.#stopped !== undefined
  }

  /** Why requests are refused; undefined: they are accepted. */
  problem(): RequestProblem | undefined {
    return this.isStopping ? stoppingProblem() : undefined
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
    announce()
    // The port stays open, so that new requests are answered with a problem.
    await jobs.ended(limitMs)
    for (const job of jobs.all()) job.abandon(stoppingProblem())
    await opened.disposeAsync()
  }
}

export interface StopParts {
  /** Tells front processes. */
  announce(): void
  jobs: OpenJobs
  opened: AsyncDisposableStack
}

export function stoppingProblem(): RequestProblem {
  return new RequestProblem(503, 'stopping', 'The cluster is stopping.', {
    headers: { 'retry-after': '5', connection: 'close' },
  })
}

/** Closes connections as they become idle, and all of them after the limit. */
export async function closeFront(front: Server, limitMs: number): Promise<void> {
  const closed = Promise.withResolvers<void>()
  front.close(() => closed.resolve())
  const sweep = setInterval(() => front.closeIdleConnections(), 10)
  const limit = setTimeout(() => front.closeAllConnections(), limitMs)
  await closed.promise
  clearInterval(sweep)
  clearTimeout(limit)
}
