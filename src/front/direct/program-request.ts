/** One request that is sent to a program directly. */

import { stackOf } from '../../lib/errors.ts'
import type { HttpHead } from '../../wire/messages.ts'
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

  constructor(parts: ProgramRequestParts) {
    this.#parts = parts
    this.method = parts.direct.request.method!
    this.#sharedMs = parts.link.sharedMs()
  }

  answered(head: HttpHead, body: Buffer[]): void {
    const { direct, worker } = this.#parts
    const ms = this.#ms()
    // Times are measured in microseconds.
    const work = Math.round(ms * 1000)
    direct.answer((client) => {
      const headers = plainAnswerHeaders(head.headers, direct.account(worker, work))
      client.deliverProxied({ ...head, headers }, body, [])
    })
    try {
      this.#report(work, ms)
    } catch (error) {
      this.#parts.log(`internal error: nothing is learned from job ${direct.job}: ${stackOf(error)}`)
    }
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
