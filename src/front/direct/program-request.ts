/** One request that is sent to a program directly. */

import { stackOf } from '../../lib/errors.ts'
import type { HttpHead } from '../../wire/messages.ts'
import { RequestProblem } from '../problem.ts'
import type { Sink } from '../receiver.ts'
import type { RouteQuestioner } from '../request/route-question.ts'
import type { FoundRoute } from '../request/route-table.ts'
import type { RequestUrl } from '../request/url.ts'
import { plainAnswerHeaders } from './answer-headers.ts'
import type { DirectRequest } from './direct-request.ts'
import type { ProgramCall } from './program-connection.ts'
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
  /** Its route's answers are odd, or the program cannot be reached. */
  avoid(why: 'odd' | 'unreachable'): void
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
  #sink: Sink | undefined

  constructor(parts: ProgramRequestParts) {
    this.#parts = parts
    this.method = parts.direct.request.method!
    this.#sharedMs = parts.link.sharedMs()
  }

  answered(head: HttpHead, body: Buffer[]): void {
    const { direct, worker } = this.#parts
    direct.answered()
    const client = direct.client()
    try {
      const headers = plainAnswerHeaders(head.headers, direct.account(worker))
      client.deliverProxied({ ...head, headers }, body, [])
    } catch (error) {
      // For example, the program has set a header that cannot be sent.
      this.#parts.log(`job ${direct.job}: its answer could not be sent: ${stackOf(error)}`)
      client.refuse(new RequestProblem(502, 'bad-answer', 'The answer to this request cannot be sent.'))
    }
    this.#report()
  }

  begun(head: HttpHead, first: Buffer[]): Sink {
    const { direct, worker } = this.#parts
    const headers = plainAnswerHeaders(head.headers, direct.account(worker))
    this.#sink = direct.client().beginProxied({ ...head, headers }, first, [])
    return this.#sink
  }

  ended(): void {
    this.#parts.direct.answered()
    this.#sink?.end()
    this.#report()
  }

  failed(why: 'odd' | 'unreachable' | 'broken'): void {
    const { direct, reports, found, worker, avoid } = this.#parts
    if (why !== 'broken') avoid(why)
    reports.givenBack(found.route.name, worker)
    direct.giveBack()
  }

  brokeOff(): void {
    this.#parts.direct.breakOff()
  }

  #report(): void {
    const { direct, reports, found, worker, link, question, url } = this.#parts
    const { name } = found.route
    const ms = link.sharedMs() - this.#sharedMs
    // Times are measured in microseconds.
    const work = Math.round(ms * 1000)
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
      hasBody: false,
      startedAt: Date.now() - wallMs,
      cost: { measure: 'time', work, cpuMs: ms, wallMs, peakMemoryMb: 0 },
    })
  }
}
