/**
 * The direct path to the programs of an existing server, for small requests: they go from the client's connection to a
 * program's connection and back in this process alone. Whatever is unusual about a request or its answer, or goes wrong
 * before the client has a part of it, takes the general path.
 */

import type { IncomingMessage } from 'node:http'
import type { DirectOrder } from '../../wire/direct.ts'
import type { ProgramAddress } from '../../wire/programs.ts'
import type { RouteQuestioner } from '../request/route-question.ts'
import type { FoundRoute, RouteTable } from '../request/route-table.ts'
import { type RequestUrl, readUrl } from '../request/url.ts'
import type { DirectRequests } from './direct-path.ts'
import type { DirectRequest } from './direct-request.ts'
import { ProgramLink } from './program-link.ts'
import { sendToProgram } from './program-request.ts'
import type { DirectReports } from './report.ts'
import { requestText } from './request-text.ts'

/** How long a route with odd answers takes the general path. */
const oddMs = 600_000
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
}

export class ProgramRequests implements DirectRequests {
  readonly #parts: ProgramRequestsParts
  readonly #targets = new Map<string, Target>()
  readonly #odd = new Map<string, number>()
  #names: ReadonlySet<string> = new Set()

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
        else this.#targets.set(key, { worker: id, link: new ProgramLink(address), places, from: 0 })
      }
    }
    for (const [key, { link }] of this.#targets) {
      if (wanted.has(key)) continue
      this.#targets.delete(key)
      link.closeIdle()
    }
  }

  take(request: IncomingMessage, direct: () => DirectRequest): boolean {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false
    const asked = this.#find(request)
    if (!asked || !this.#names.has(asked.found.route.name) || this.#isOdd(asked.found.route.name))
      return false
    const text = requestText(request, asked.url)
    const target = text === undefined ? undefined : this.#leastBusy()
    if (!target) return false
    const { question, reports, log } = this.#parts
    const avoid = (why: 'odd' | 'unreachable') => this.#avoid(why, asked.found.route.name, target)
    sendToProgram(text!, { ...asked, ...target, direct: direct(), question, reports, log, avoid })
    return true
  }

  sweep(): void {
    const now = performance.now()
    for (const { link } of this.#targets.values()) link.sweep(now)
  }

  close(): void {
    for (const { link } of this.#targets.values()) link.closeIdle()
    this.#targets.clear()
  }

  /** Undefined: something is wrong with it. The general path says what. */
  #find(request: IncomingMessage): { url: RequestUrl; found: FoundRoute } | undefined {
    try {
      const url = readUrl(request)
      return { url, found: this.#parts.table.find(request.method!, url.path) }
    } catch {
      return undefined
    }
  }

  #leastBusy(): Target | undefined {
    let best: Target | undefined
    let pending = Infinity
    for (const target of this.#targets.values()) {
      const { link, places, from } = target
      if (link.pending >= places || link.pending >= pending) continue
      if (from > 0 && from > performance.now()) continue
      best = target
      pending = link.pending
    }
    return best
  }

  #avoid(why: 'odd' | 'unreachable', route: string, target: Target): void {
    const now = performance.now()
    if (why === 'unreachable') target.from = now + unreachableMs
    else {
      this.#odd.set(route, now + oddMs)
      this.#parts.log(`route ${route}: its answers are unusual, so its requests take the general path`)
    }
  }

  #isOdd(route: string): boolean {
    const until = this.#odd.get(route)
    if (until === undefined) return false
    if (until > performance.now()) return true
    this.#odd.delete(route)
    return false
  }
}

function placeOf(address: ProgramAddress): string {
  return 'path' in address ? address.path : `${address.host}:${address.port}`
}
