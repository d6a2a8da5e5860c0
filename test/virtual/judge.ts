/** Judges a run: what was promised to each request, and to each worker. */

import type { AttemptToken } from '../../src/model/attempt.ts'
import type { Ending } from './front-process.ts'
import type { VirtualProcess } from './time.ts'
import { resultOf } from './worker-process.ts'

export interface ProcessCounts {
  requests: number
  results: number
  problems: number
  /** Of these, requests that were shed. */
  shed: number
  broken: number
  brainKills: number
  brainPauses: number
  workerKills: number
  frontKills: number
  resets: number
  silences: number
  diskFaults: number
  workerRestarts: number
  twins: number
  sendFaults: number
  forgotten: number
  lost: number
}

/** One request of a client. */
export interface Request {
  number: number
  safeToRepeat: boolean
  /** The front that accepted it. */
  front: VirtualProcess
  starts: number
  endings: Ending[]
  disconnected: boolean
}

export class Judge {
  readonly #now: () => number
  readonly #requests = new Map<number, Request>()
  /** Beginnings of log lines that must follow. */
  readonly #untold = new Set<string>()
  readonly failures: string[] = []
  readonly counts: ProcessCounts = {
    ...{ requests: 0, results: 0, problems: 0, shed: 0, broken: 0, brainKills: 0, brainPauses: 0 },
    ...{ workerKills: 0, frontKills: 0, resets: 0, silences: 0, diskFaults: 0, workerRestarts: 0, lost: 0 },
    ...{ twins: 0, sendFaults: 0, forgotten: 0 },
  }

  constructor(now: () => number) {
    this.#now = now
  }

  fail(why: string): void {
    this.failures.push(`${(this.#now() / 1000).toFixed(3)} s: ${why}`)
  }

  uncaught(process: VirtualProcess | undefined, error: unknown): void {
    this.fail(`${process?.name ?? 'the world'} died of ${(error as Error)?.stack ?? String(error)}`)
  }

  /** The operator must be told of it. */
  notSent({ job, attempt }: AttemptToken): void {
    this.#untold.add(`job ${job}: attempt ${attempt} `)
  }

  superseded({ job, attempt }: AttemptToken): void {
    this.#untold.delete(`job ${job}: attempt ${attempt} `)
  }

  logged(line: string): void {
    for (const start of this.#untold) if (line.startsWith(start)) this.#untold.delete(start)
  }

  sent(request: Request): void {
    this.counts.requests++
    this.#requests.set(request.number, request)
  }

  started(number: number): void {
    const request = this.#requests.get(number)!
    request.starts++
    if (!request.safeToRepeat && request.starts > 1)
      this.fail(`request ${number}, which must not be repeated, started ${request.starts} times`)
  }

  ended(request: Request, ending: Ending): void {
    const { counts } = this
    request.endings.push(ending)
    if (ending.kind === 'result') counts.results++
    else if (ending.kind === 'problem') counts.problems++
    else counts.broken++
    if (ending.kind === 'problem' && ending.code === 'overloaded') counts.shed++
    const { number } = request
    if (request.endings.length > 1) this.fail(`request ${number} was answered twice`)
    if (ending.kind !== 'result') return
    if (ending.value !== resultOf(number)) this.fail(`request ${number} got the result ${ending.value}`)
    if (request.starts === 0) this.fail(`request ${number} has a result, but never started`)
  }

  /** `isHealthy`: no fault has touched the worker. */
  lost(worker: string, why: string, isHealthy: boolean): void {
    this.counts.lost++
    if (isHealthy) this.fail(`healthy worker ${worker} was declared lost: ${why}`)
  }

  /** Requests at fronts that live on must have been answered by now. */
  atRest(): void {
    for (const start of this.#untold) this.fail(`${start}could not be sent, and nothing was logged`)
    for (const { number, endings, disconnected, front } of this.#requests.values()) {
      if (endings.length === 0 && !disconnected && front.alive)
        this.fail(`request ${number} was never answered`)
    }
  }
}
