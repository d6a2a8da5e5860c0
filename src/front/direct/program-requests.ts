/**
 * The direct path to the programs of an existing server, for small requests: they go from the client's connection to a
 * program's connection and back in this process alone. The client gets a whole answer or nothing: if anything is unusual
 * about a request or its answer, or goes wrong, the request takes the general path. A request that must not be repeated
 * takes it only before it is sent.
 */

import { ReadBuffers } from '../../lib/read-buffers.ts'
import type { DirectOrder } from '../../wire/direct.ts'
import type { ProgramAddress } from '../../wire/programs.ts'
import { isBuiltIn } from '../built-in.ts'
import { isSafeToRepeat } from '../request/repeatable.ts'
import type { RequestHead } from '../request/request-head.ts'
import type { RouteQuestioner } from '../request/route-question.ts'
import type { FoundRoute, RouteTable } from '../request/route-table.ts'
import type { IsTrusted } from '../request/trusted-proxies.ts'
import { type RequestUrl, readUrl } from '../request/url.ts'
import type { DirectRequests } from './direct-path.ts'
import type { DirectRequest } from './direct-request.ts'
import { OddAnswers } from './odd-answers.ts'
import type { CallFailure } from './program-connection.ts'
import { ProgramLink } from './program-link.ts'
import { sendToProgram } from './program-request.ts'
import type { DirectReports } from './report.ts'
import { requestText } from './request-text.ts'
import { WaitingRequests } from './waiting-requests.ts'

/** A request for which a place is wanted. */
class Asked {
  readonly text: string
  readonly url: RequestUrl
  readonly found: FoundRoute
  readonly direct: DirectRequest

  constructor(text: string, url: RequestUrl, found: FoundRoute, direct: DirectRequest) {
    this.text = text
    this.url = url
    this.found = found
    this.direct = direct
  }

  get isOver(): boolean {
    return this.direct.isOver
  }
}

/** How long a program that cannot be reached gets no requests. */
const unreachableMs = 1_000

export interface ProgramRequestsParts {
  table: RouteTable
  question: RouteQuestioner
  reports: DirectReports
  isTrusted: IsTrusted
  /** Requests with a longer body take the general path. */
  longestBody: number
  /** A short answer that only a full parser can read is held back for at most this time. */
  holdMs: number
  log(line: string): void
}

interface Target {
  worker: string
  link: ProgramLink
  /** Requests that may be in progress there. */
  places: number
  /** When it may get requests again. */
  from: number
  /** The number of its last request. */
  last: number
}

export class ProgramRequests implements DirectRequests {
  readonly #parts: ProgramRequestsParts
  readonly #targets = new Map<string, Target>()
  /** Links that get no more requests, but still have some in progress; with their workers. */
  readonly #retired = new Map<ProgramLink, string>()
  readonly #odd = new OddAnswers()
  readonly #waiting = new WaitingRequests<Asked>()
  readonly #buffers = new ReadBuffers()
  #names: ReadonlySet<string> = new Set()
  #sent = 0

  constructor(parts: ProgramRequestsParts) {
    this.#parts = parts
  }

  update({ names, workers }: DirectOrder): void {
    this.#names = new Set(names)
    const wanted = new Set<string>()
    for (const { id, programs } of workers) {
      for (const address of programs?.addresses ?? []) {
        const key = `${id} ${placeOf(address)}`
        wanted.add(key)
        const places = programs!.concurrency
        const known = this.#targets.get(key)
        if (known) known.places = places
        else this.#targets.set(key, { worker: id, link: this.#link(address), places, from: 0, last: 0 })
      }
    }
    for (const [key, target] of this.#targets) {
      if (wanted.has(key)) continue
      this.#targets.delete(key)
      this.#retire(target)
    }
    this.#sendWaiting()
  }

  take(request: RequestHead, enter: () => DirectRequest | undefined): boolean {
    if (!isSendable(request)) return false
    const asked = this.#find(request)
    if (!asked) return false
    const { name } = asked.found.route
    if (!this.#names.has(name) || this.#odd.has(name, asked.url.path)) return false
    const text = requestText(request, asked.url, this.#parts.isTrusted)
    if (text === undefined) return false
    const target = this.#leastBusy()
    if (!target && !this.#mayWait()) return false
    const direct = enter()
    if (!direct) return false
    const sent = new Asked(text, asked.url, asked.found, direct)
    if (target) this.#send(sent, target)
    else this.#waiting.add(sent)
    return true
  }

  #send({ text, url, found, direct }: Asked, target: Target): void {
    target.last = ++this.#sent
    const { worker, link } = target
    const { question, reports, holdMs, log } = this.#parts
    const avoid = (why: CallFailure) => this.#avoid(why, target, found.route.name, url.path)
    const mayRepeat = isSafeToRepeat(found.route, direct.request)
    const to = { url, found, worker, link, direct, mayRepeat, holdMs }
    sendToProgram(text, { ...to, question, reports, log, avoid })
  }

  /** True: a place will soon be free, unless as many requests wait as are in progress. */
  #mayWait(): boolean {
    let places = 0
    for (const target of this.#targets.values()) if (isReachable(target)) places += target.places
    return this.#waiting.length < places
  }

  /** Sends requests that wait while there are places. */
  readonly #sendWaiting = () => {
    while (this.#waiting.length > 0) {
      const target = this.#leastBusy()
      const next = target && this.#waiting.next()
      if (!next) return
      if (this.#names.has(next.found.route.name)) this.#send(next, target)
      else next.direct.giveBack()
    }
  }

  get longestBody(): number {
    return this.#parts.longestBody
  }

  sweep(): void {
    for (const { direct } of this.#waiting.late()) direct.giveBack()
    for (const { link } of this.#targets.values()) link.sweep()
    for (const link of this.#retired.keys()) {
      link.sweep()
      if (link.isOver) this.#retired.delete(link)
    }
  }

  get isOver(): boolean {
    return this.#targets.size === 0 && this.#retired.size === 0 && this.#waiting.length === 0
  }

  get leaving(): readonly string[] {
    return [...new Set(this.#retired.values())]
  }

  close(): void {
    this.#names = new Set()
    for (const target of this.#targets.values()) this.#retire(target)
    this.#targets.clear()
    for (const { direct } of this.#waiting.all()) direct.giveBack()
  }

  #link(address: ProgramAddress): ProgramLink {
    return new ProgramLink(address, undefined, this.#buffers, () => {
      // The answer that has just ended is passed on first.
      if (this.#waiting.length > 0) queueMicrotask(this.#sendWaiting)
    })
  }

  #retire({ link, worker }: Target): void {
    link.retire()
    if (!link.isOver) this.#retired.set(link, worker)
  }

  /** Undefined: it is not for a program, or something is wrong with it. The general path says what. */
  #find(request: RequestHead): { url: RequestUrl; found: FoundRoute } | undefined {
    try {
      const url = readUrl(request)
      if (isBuiltIn(url)) return undefined
      return { url, found: this.#parts.table.find(request.method!, url.path) }
    } catch {
      return undefined
    }
  }

  /** In turn among equals: fronts that all began with the same program would crowd it. */
  #leastBusy(): Target | undefined {
    let best: Target | undefined
    for (const target of this.#targets.values()) {
      const { link, places } = target
      if (link.pending >= places || !isReachable(target)) continue
      const less = best ? link.pending - best.link.pending : -1
      if (less < 0 || (less === 0 && target.last < best!.last)) best = target
    }
    return best
  }

  #avoid(why: CallFailure, target: Target, route: string, path: string): void {
    if (why === 'unreachable') target.from = performance.now() + unreachableMs
    if (why === 'odd' && this.#odd.add(route, path))
      this.#parts.log(
        `route ${route}: many of its answers are unusual, so its requests are not sent directly`,
      )
  }
}

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE'])
const methodsWithBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** False: only the general path knows what to do, or reads the body. */
function isSendable({ method, wholeBody }: RequestHead): boolean {
  return (wholeBody ? methodsWithBody : methods).has(method!)
}

function isReachable({ from }: Target): boolean {
  return from === 0 || from <= performance.now()
}

function placeOf(address: ProgramAddress): string {
  return 'path' in address ? address.path : `${address.host}:${address.port}`
}
