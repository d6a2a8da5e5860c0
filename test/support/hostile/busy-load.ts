/** Saturation: short and long work, uploads, large answers and clients that leave, all with known answers. */

import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { exchange } from './innocents.ts'
import { dial } from './raw.ts'
import type { Up } from './up.ts'

export interface BusyCounts {
  sent: number
  right: number
  wrong: number
  /** No answer, or an error other than a refusal. */
  lost: number
  /** The queue was full. */
  refused: number
  /** Clients that left before their answer. */
  left: number
}

const upload = Buffer.alloc(1_500_000, 'a')

export class BusyLoad {
  readonly counts: BusyCounts = { sent: 0, right: 0, wrong: 0, lost: 0, refused: 0, left: 0 }
  readonly troubles: string[] = []
  readonly #up: Up
  readonly #loops: Promise<void>[]
  #open = true

  constructor(up: Up, clients: number) {
    this.#up = up
    this.#loops = Array.from({ length: clients }, (_, i) => this.#run(i))
  }

  async stop(): Promise<void> {
    this.#open = false
    await Promise.all(this.#loops)
  }

  async #run(client: number): Promise<void> {
    // One connection that is never idle for long: a front that leaves closes idle ones, perhaps with a request on its way.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let i = client; this.#open; i += 7) {
      const kind = i % 20
      if (kind === 0) await this.#leave()
      else if (kind === 1) await this.#ask(agent, 'POST', '/sink', `${upload.length}`, upload)
      else if (kind === 2) await this.#ask(agent, 'GET', '/large?mb=2', 'a'.repeat(2 * 1024 * 1024))
      else if (kind < 6) await this.#ask(agent, 'GET', '/spin?ms=120', '120')
      else if (kind < 9) await this.#ask(agent, 'GET', '/nap?ms=200', '200')
      else if (kind < 14) await this.#ask(agent, 'GET', '/spin?ms=8', '8')
      else await this.#ask(agent, 'GET', `/double?n=${i}`, `${2 * i}`)
    }
    agent.destroy()
  }

  async #ask(agent: Agent, method: string, path: string, expected: string, body?: Buffer): Promise<void> {
    this.counts.sent++
    const answer = await exchange(this.#up.url + path, method, agent, body && { body })
    const isRefused = answer.status === 503 && /queue-full|overload/.test(answer.body)
    const isRight = answer.status === 200 && answer.body === expected
    const kind = isRight ? 'right' : isRefused ? 'refused' : answer.status === 200 ? 'wrong' : 'lost'
    this.counts[kind]++
    if (isRight) return
    if (this.troubles.length < 20)
      this.troubles.push(`${new Date().toISOString()} ${path}: ${answer.status} ${answer.body.slice(0, 150)}`)
    // A client that is refused does not ask again at once.
    await delay(200)
  }

  async #leave(): Promise<void> {
    this.counts.left++
    try {
      const socket = await dial(this.#up.port)
      socket.write('GET /spin?ms=500 HTTP/1.1\r\nHost: x\r\n\r\n')
      await delay(50)
      socket.destroy()
    } catch {
      await delay(50)
    }
  }
}
