/** How the attempts of one request reach a worker, and its answer the client: one file for each kind of request. */

import type { Agent } from 'node:http'
import type { Dispatcher } from 'undici'
import type { Cost } from '../../model/cost.ts'
import type { AttemptHead, AttemptOutcome } from '../../wire/messages.ts'
import type { RequestProblem } from '../problem.ts'

/** A worker as a front reaches it. */
export interface Upstream {
  id: string
  dispatcher: Dispatcher
  /** The same place, for requests that switch protocols or have trailers. */
  address: { host: string; port: number }
  agent: Agent
}

/** One attempt on its way. */
export interface Carried {
  upstream: Upstream
  head: AttemptHead
  /** The secret that workers know fronts by. */
  token: string
  /** Aborted when another attempt takes its place, or nobody waits for it. */
  signal: AbortSignal
  /** False: whatever comes of it is of no interest any more. */
  isCurrent(): boolean
  /** Called when a long answer begins to be passed on as it comes. */
  answering(): void
  /** Asked for when the answer begins to go out: headers that say what is known of the job. */
  account(): Record<string, string>
}

/** How an attempt ended. */
export type AttemptEnd =
  /** Without a cost: nobody could measure it. */
  | { outcome: 'result'; cost?: Cost }
  | { outcome: Exclude<AttemptOutcome, 'result'>; message: string; status: number; cost?: Cost }

export interface Transport {
  /** What the heads of its attempts say. */
  readonly asked: Pick<AttemptHead, 'params' | 'http'>
  /** True: the client has seen the beginning of an answer, so that there cannot be another. */
  readonly begun: boolean
  /**
   * Sends an attempt and takes in its answer, or passes it on as it comes. Rejects if the worker cannot be reached or
   * breaks off. Undefined: it is not the current one any more.
   */
  carry(attempt: Carried): Promise<AttemptEnd | undefined>
  /** The brain has agreed: the client is given what was taken in, or the end of what was passed on. */
  deliver(account: Record<string, string>): void
  /** Set by whom it serves: the request turned out to be one that cannot be served; without a problem, its client is gone. */
  onSpoilt?: (problem: RequestProblem | undefined) => void
}

/** Resolves when the stream can take more, or never will. */
export function drained(
  stream: Pick<NodeJS.EventEmitter, 'on' | 'off'>,
  limit?: { ms: number; giveUp(): void },
): Promise<void> {
  return new Promise((resolve) => {
    const timer = limit && setTimeout(limit.giveUp, limit.ms)
    const go = () => {
      clearTimeout(timer)
      stream.off('drain', go)
      stream.off('close', go)
      resolve()
    }
    stream.on('drain', go)
    stream.on('close', go)
  })
}
