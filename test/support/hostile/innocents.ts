/** Innocent clients: steady small requests with known answers, on kept and on new connections, never retried. */

import { Agent, request } from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import type { Up } from './up.ts'

export interface Counts {
  sent: number
  right: number
  wrong: number
  /** Work that must not be repeated and ran twice. */
  doubled: number
  /** No answer, or an error. */
  lost: number
  /** Answered right, but late. */
  slow: number
  /** Unrepeatable work whose worker was killed: the client is told so. */
  unknown: number
  /** Told to try again later, where an experiment allows it. */
  refused: number
}

export function noCounts(): Counts {
  return { sent: 0, right: 0, wrong: 0, doubled: 0, lost: 0, slow: 0, unknown: 0, refused: 0 }
}

export interface InnocentOptions {
  /** Half of them keep their connection. Default 4. */
  clients?: number
  /** An answer after this time is slow, unless one took a fifth of it before the attack. Infinity: none is; see pace.ts. */
  slowMs?: number
  /** False: all of them keep their connection. Default true. */
  reconnects?: boolean
  /** Pause between two requests of a client. */
  pauseMs?: number
  /** True: workers or the brain are killed, so the outcome of unrepeatable work may be unknown. */
  mayBeUnknown?: boolean
  /** True: the cluster is so short of something that it may refuse requests. */
  mayBeRefused?: boolean
  /** False: no unrepeatable work, which needs the disk. Default true. */
  tallies?: boolean
  /** Names of clients must differ between instances on one cluster. */
  name?: string
}

/** A request without an answer is lost after this time. */
const patienceMs = 60_000
/** A client that is refused does not ask again at once. */
const refusedMs = 200
/** A client of its own, apart from the attackers. Linux has all of 127.0.0.0/8 on loopback. */
const address = '127.0.0.2'
/** Requests before the attack, which show how slow the machine is. */
const firstRequests = 16

export class Innocents {
  readonly counts = noCounts()
  /** The first few, for people. */
  readonly troubles: string[] = []
  slowestMs = 0
  readonly #up: Up
  readonly #options: Required<InnocentOptions>
  readonly #agent: Agent
  readonly #tallied: string[] = []
  readonly #loops: Promise<void>[]
  #open = true
  #firstMs = 0

  constructor(up: Up, options: InnocentOptions = {}) {
    const { clients = 4, slowMs = 5_000, pauseMs = 20, reconnects = true } = options
    const { mayBeUnknown = false, mayBeRefused = false, tallies = true, name = 'innocent' } = options
    this.#up = up
    this.#agent = keptAgent(up.url)
    this.#options = { clients, slowMs, pauseMs, reconnects, mayBeUnknown, mayBeRefused, tallies, name }
    this.#loops = Array.from({ length: clients }, (_, i) => this.#run(i))
  }

  /** Resolves when this many more requests were answered or lost. */
  async more(count: number): Promise<void> {
    const { counts } = this
    const done = () => counts.right + counts.wrong + counts.lost + counts.unknown + counts.refused
    const target = done() + count
    while (done() < target) await delay(20)
  }

  /** Resolves when all pending requests are over. */
  async stop(): Promise<void> {
    if (!this.#open) return
    this.#open = false
    await Promise.all(this.#loops)
    this.#agent.destroy()
    if (this.#options.tallies) this.#checkTally()
  }

  /** Every id that was confirmed ran exactly once; no id ran twice. */
  #checkTally(): void {
    const ran = new Map<string, number>()
    for (const id of this.#up.tallied()) ran.set(id, (ran.get(id) ?? 0) + 1)
    const doubled = [...ran].filter(([id, times]) => times > 1 && id.startsWith(this.#options.name))
    this.counts.doubled += doubled.length
    for (const [id, times] of doubled) this.#note(`${id} ran ${times} times`)
    const missing = this.#tallied.filter((id) => !ran.has(id))
    this.counts.wrong += missing.length
    if (missing.length > 0) this.#note(`${missing.length} confirmed but never run`)
  }

  async #run(client: number): Promise<void> {
    for (let i = 0; this.#open; i++) {
      await this.#ask(client, i)
      await delay(this.#options.pauseMs)
    }
  }

  async #ask(client: number, i: number): Promise<void> {
    const id = `${this.#options.name}-${client}-${i}`
    const number = client * 1_000_000 + i
    const isTally = this.#options.tallies && i % 8 === 7
    const [method, path, expected] = isTally
      ? ['POST', `/tally?id=${id}`, id]
      : ['GET', `/double?n=${number}`, `${2 * number}`]
    this.counts.sent++
    const began = performance.now()
    const keeps = client % 2 === 0 || !this.#options.reconnects
    const answer = await exchange(this.#up.url + path, method, keeps ? this.#agent : false, {
      localAddress: address,
    })
    const ms = performance.now() - began
    this.slowestMs = Math.max(this.slowestMs, ms)
    if (answer.status === 200 && answer.body === expected) {
      this.counts.right++
      if (isTally) this.#tallied.push(id)
      if (this.counts.right <= firstRequests) this.#firstMs = Math.max(this.#firstMs, ms)
      if (ms <= Math.max(this.#options.slowMs, 5 * this.#firstMs)) return
      this.counts.slow++
      return this.#note(`${path} took ${Math.round(ms)} ms`)
    }
    const isUnknown = isTally && this.#options.mayBeUnknown && answer.body.includes('outcome-unknown')
    const isRefused =
      this.#options.mayBeRefused && answer.status === 503 && answer.headers['retry-after'] !== undefined
    const kind = isUnknown ? 'unknown' : isRefused ? 'refused' : answer.status === 200 ? 'wrong' : 'lost'
    this.counts[kind]++
    if (isRefused) await delay(refusedMs)
    else if (!isUnknown)
      this.#note(
        `${method} ${path}: ${answer.status} ${answer.body.slice(0, 200)} after ${Math.round(ms)} ms`,
      )
  }

  #note(trouble: string): void {
    if (this.troubles.length < 10) this.troubles.push(trouble)
  }
}

export interface Answer {
  /** 0: none; then the body says why. */
  status: number
  body: string
  headers: NodeJS.Dict<string | string[]>
}

/** Keeps its connections. */
function keptAgent(url: string): Agent {
  const options = { keepAlive: true, localAddress: address }
  return url.startsWith('https:')
    ? new SecureAgent({ ...options, rejectUnauthorized: false })
    : new Agent(options)
}

/** Never rejects. */
export function exchange(
  url: string,
  method: string,
  agent: Agent | false,
  {
    body,
    headers = {},
    timeoutMs = patienceMs,
    localAddress,
  }: {
    body?: string | Buffer
    headers?: Record<string, string>
    timeoutMs?: number
    localAddress?: string
  } = {},
): Promise<Answer> {
  return new Promise((resolve) => {
    const failed = (why: string) => resolve({ status: 0, body: why, headers: {} })
    const ask = url.startsWith('https:') ? secureRequest : request
    const call = ask(
      url,
      { method, agent, headers, rejectUnauthorized: false, ...(localAddress && { localAddress }) },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', (error) => failed(`broken: ${error.message}`))
        response.on('end', () =>
          resolve({
            ...{ status: response.statusCode ?? 0, headers: response.headers },
            body: Buffer.concat(chunks).toString().trimEnd(),
          }),
        )
      },
    )
    call.setTimeout(timeoutMs, () => call.destroy(new Error(`no answer for ${timeoutMs / 1000} s`)))
    call.on('error', (error: NodeJS.ErrnoException) => failed(error.code ?? error.message))
    call.end(body)
  })
}
