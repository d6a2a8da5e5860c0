/**
 * The direct path to the programs of an existing server, for small requests: they go from the client's connection to a
 * program's connection and back in this process alone. The client gets a whole answer or nothing: if anything is unusual
 * about a request or its answer, or goes wrong, the request takes the general path.
 */

import type { IncomingMessage } from 'node:http'
import type { DirectOrder } from '../../wire/direct.ts'
import type { ProgramAddress } from '../../wire/programs.ts'
import { isBuiltIn } from '../built-in.ts'
import type { RouteQuestioner } from '../request/route-question.ts'
import type { FoundRoute, RouteTable } from '../request/route-table.ts'
import { type RequestUrl, readUrl } from '../request/url.ts'
import type { DirectRequests } from './direct-path.ts'
import type { DirectRequest } from './direct-request.ts'
import { OddAnswers } from './odd-answers.ts'
import type { CallFailure } from './program-connection.ts'
import { ProgramLink } from './program-link.ts'
import { sendToProgram } from './program-request.ts'
import type { DirectReports } from './report.ts'
import { requestText } from './request-text.ts'

/** How long a program that cannot be reached gets no requests. */
const unreachableMs = 1_000

export interface ProgramRequestsParts {
  table: RouteTable
  question: RouteQuestioner
  reports: DirectReports
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
  /** Get no more requests, but still have some in progress. */
  readonly #retired = new Set<ProgramLink>()
  readonly #odd = new OddAnswers()
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
        else this.#targets.set(key, { worker: id, link: new ProgramLink(address), places, from: 0, last: 0 })
      }
    }
    for (const [key, { link }] of this.#targets) {
      if (wanted.has(key)) continue
      this.#targets.delete(key)
      this.#retire(link)
    }
  }

  take(request: IncomingMessage, enter: () => DirectRequest | undefined): boolean {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false
    const asked = this.#find(request)
    if (!asked) return false
    const { name } = asked.found.route
    if (!this.#names.has(name) || this.#odd.has(name, asked.url.path)) return false
    const text = requestText(request, asked.url)
    const target = text === undefined ? undefined : this.#leastBusy()
    const direct = target && enter()
    if (!direct) return false
    target.last = ++this.#sent
    const { question, reports, log } = this.#parts
    const avoid = (why: CallFailure) => this.#avoid(why, target, name, asked.url.path)
    sendToProgram(text!, { ...asked, ...target, direct, question, reports, log, avoid })
    return true
  }

  sweep(): void {
    for (const { link } of this.#targets.values()) link.sweep()
    for (const link of this.#retired) {
      link.sweep()
      if (link.isOver) this.#retired.delete(link)
    }
  }

  get isOver(): boolean {
    return this.#targets.size === 0 && this.#retired.size === 0
  }

  close(): void {
    this.#names = new Set()
    for (const { link } of this.#targets.values()) this.#retire(link)
    this.#targets.clear()
  }

  #retire(link: ProgramLink): void {
    link.retire()
    if (!link.isOver) this.#retired.add(link)
  }

  /** Undefined: it is not for a program, or something is wrong with it. The general path says what. */
  #find(request: IncomingMessage): { url: RequestUrl; found: FoundRoute } | undefined {
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
      const { link, places, from } = target
      if (link.pending >= places || (from > 0 && from > performance.now())) continue
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

function placeOf(address: ProgramAddress): string {
  return 'path' in address ? address.path : `${address.host}:${address.port}`
}
