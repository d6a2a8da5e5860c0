/** One request that is sent to a program directly. */

import { stackOf } from '../../lib/errors.ts'
import type { HttpHead } from '../../wire/messages.ts'
import type { LongSink } from '../receiver.ts'
import type { RouteQuestioner } from '../request/route-question.ts'
import type { FoundRoute } from '../request/route-table.ts'
import type { RequestUrl } from '../request/url.ts'
import { plainAnswerHeaders } from './answer-headers.ts'
import type { DirectRequest } from './direct-request.ts'
import type { CallFailure, ProgramCall } from './program-connection.ts'
import type { ProgramLink } from './program-link.ts'
import type { DirectReports } from './report.ts'

export interface ProgramRequestParts {
  direct: DirectRequest
  url: RequestUrl
  found: FoundRoute
  worker: string
  link: ProgramLink
  question: RouteQuestioner
  reports: DirectReports
  log(line: string): void
  /** The program could not be reached, or its answer cannot be read here. */
  avoid(why: CallFailure): void
}

export function sendToProgram(text: string, parts: ProgramRequestParts): void {
  const call = new Call(parts)
  const connection = parts.link.send(text, call)
  parts.direct.cancel = () => connection.cancel()
}

class Call implements ProgramCall {
  readonly method: string
  readonly #parts: ProgramRequestParts
  /** The program's shared time when it was sent. */
  readonly #sharedMs: number
  /** Of an answer that is streamed. */
  #streamed: { sink: LongSink; ms: number } | undefined

  constructor(parts: ProgramRequestParts) {
    this.#parts = parts
    this.method = parts.direct.request.method!
    this.#sharedMs = parts.link.sharedMs()
  }

  answered(head: HttpHead, body: Buffer[], taken: () => void): void {
    const { direct } = this.#parts
    const ms = this.#ms()
    direct.answer((client) => client.deliverProxied(this.#passedOn(head, workOf(ms)), body, [], taken))
    this.#learn(ms)
  }

  /** What the program computes, it has computed before its answer begins; the rest is the client's time. */
  begins(head: HttpHead, first: Buffer[]): LongSink | undefined {
    const ms = this.#ms()
    const sink = this.#parts.direct.begin((client) => client.beginLong(this.#passedOn(head), first))
    this.#streamed = sink && { sink, ms }
    return sink
  }

  completed(): void {
    this.#parts.direct.complete()
    this.#learn(this.#streamed!.ms)
  }

  brokenOff(): void {
    const { direct, worker, log } = this.#parts
    direct.complete()
    log(`job ${direct.job}: its answer broke off: the program of worker ${worker} did not send all of it`)
    this.#streamed!.sink.breakOff()
  }

  failed(why: CallFailure): void {
    const { direct, reports, found, worker, avoid } = this.#parts
    avoid(why)
    reports.givenBack(found.route.name, worker)
    direct.giveBack()
  }

  lasts(): void {
    const { reports, found, worker } = this.#parts
    reports.lasts(found.route.name, worker, this.#ms())
  }

  #passedOn(head: HttpHead, work?: number): HttpHead {
    const { direct, worker } = this.#parts
    return { ...head, headers: plainAnswerHeaders(head.headers, direct.account(worker, work)) }
  }

  #learn(ms: number): void {
    try {
      this.#report(workOf(ms), ms)
    } catch (error) {
      const { log, direct } = this.#parts
      log(`internal error: nothing is learned from job ${direct.job}: ${stackOf(error)}`)
    }
  }

  #ms(): number {
    return this.#parts.link.sharedMs() - this.#sharedMs
  }

  #report(work: number, ms: number): void {
    const { direct, reports, found, worker, question, url } = this.#parts
    const { name } = found.route
    reports.answered(name, worker, work, ms)
    if (!reports.samples(name)) return
    const { request, job } = direct
    const method = this.method
    const none = { announced: 0, bytes: 0, head: Buffer.alloc(0) }
    const { key, features } = question(found, method, url, request, none)
    const wallMs = performance.now() - direct.startedAt
    reports.row({
      ...{ job, name, worker, key, features },
      params: { method, target: url.text },
      startedAt: Date.now() - wallMs,
      cost: { measure: 'time', work, cpuMs: ms, wallMs, peakMemoryMb: 0 },
    })
  }
}

/** Times are measured in microseconds. */
function workOf(ms: number): number {
  return Math.round(ms * 1000)
}
