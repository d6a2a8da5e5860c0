/** One request that is sent to a program directly. */

import type { Duplex } from 'node:stream'
import { stackOf } from '../../lib/errors.ts'
import type { HttpHead } from '../../wire/messages.ts'
import { valuesOf } from '../../wire/raw-headers.ts'
import { refusal } from '../problem.ts'
import type { LongSink, Sink } from '../receiver.ts'
import type { RouteQuestioner } from '../request/route-question.ts'
import type { FoundRoute } from '../request/route-table.ts'
import type { RequestUrl } from '../request/url.ts'
import { answerHeaders } from '../transports/proxy-headers.ts'
import { plainAnswerHeaders } from './answer-headers.ts'
import type { DirectRequest } from './direct-request.ts'
import { passOddAnswer } from './odd-answer.ts'
import type { CallFailure, ProgramCall } from './program-connection.ts'
import type { ProgramLink } from './program-link.ts'
import type { DirectReports } from './report.ts'

const nothing = Buffer.alloc(0)

export interface ProgramRequestParts {
  direct: DirectRequest
  url: RequestUrl
  found: FoundRoute
  worker: string
  link: ProgramLink
  question: RouteQuestioner
  reports: DirectReports
  /** False: once it was sent, it must not be sent again. */
  mayRepeat: boolean
  /** A short answer that is odd is held back for at most this time. */
  holdMs: number
  log(line: string): void
  /** The program could not be reached, or its answer cannot be read here. */
  avoid(why: CallFailure): void
}

export function sendToProgram(text: string, parts: ProgramRequestParts): void {
  const call = new Call(parts)
  const connection = parts.link.send(text, call, parts.direct.request.wholeBody)
  parts.direct.cancel = () => connection.cancel()
}

class Call implements ProgramCall {
  readonly method: string
  readonly mayRepeat: boolean
  readonly #parts: ProgramRequestParts
  /** The program's shared time when it was sent. */
  readonly #sharedMs: number
  /** Of an answer that is streamed. */
  #streamed: { sink: Pick<LongSink, 'breakOff'>; ms: number } | undefined

  constructor(parts: ProgramRequestParts) {
    this.#parts = parts
    this.method = parts.direct.request.method!
    this.mayRepeat = parts.mayRepeat
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
    // A program that could not be reached has received nothing.
    if (this.mayRepeat || why === 'unreachable') direct.giveBack()
    else this.#outcomeUnknown()
  }

  odd(connection: Duplex): void {
    const { holdMs, reports, found, worker, avoid } = this.#parts
    avoid('odd')
    reports.givenBack(found.route.name, worker)
    const ms = this.#ms()
    const { method } = this
    passOddAnswer(
      connection,
      { method, holdMs },
      {
        whole: (head, body, trailers, work = workOf(ms)) =>
          this.#parts.direct.answer((client) =>
            client.deliverProxied(this.#oddHead(head, work), body, trailers),
          ),
        begins: (head, first) => this.#beginOdd(head, first, ms),
        completed: () => this.#parts.direct.complete(),
        brokenOff: () => (this.#streamed ? this.brokenOff() : this.#outcomeUnknown()),
      },
    )
  }

  #beginOdd(head: HttpHead, first: readonly Buffer[], ms: number): Sink | undefined {
    const names = valuesOf(head.headers, 'trailer')
    const sink = this.#parts.direct.begin((client) => {
      const streamed = client.beginProxied(this.#oddHead(head), first, names)
      this.#streamed = { sink: client, ms }
      return streamed
    })
    return sink
  }

  #oddHead(head: HttpHead, work?: number): HttpHead {
    const { direct, worker } = this.#parts
    return { ...head, headers: answerHeaders(head.headers, direct.account(worker, work)) }
  }

  /** As the general path says it. */
  #outcomeUnknown(): void {
    const { direct, worker, log } = this.#parts
    if (direct.isOver) return
    log(`job ${direct.job}: its outcome is unknown: the program of worker ${worker} closed its connection`)
    const problem = refusal({ code: 'outcome-unknown', cause: 'connection-lost' }, direct.job)
    direct.answer((client) => client.refuse(problem, direct.account(worker)))
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
    const head = request.wholeBody ?? nothing
    const body = { announced: head.length, bytes: head.length, head }
    const { key, features } = question(found, method, url, request, body)
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
