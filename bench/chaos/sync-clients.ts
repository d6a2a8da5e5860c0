/** Clients that wait for their answers, and never try again. */

import { setTimeout as delay } from 'node:timers/promises'
import { ask, type Service } from '../../test/support/hostile/service.ts'

const pauseMs = 20
const patienceMs = 120_000

export class SyncClients {
  /** `unexplained`: errors of requests during which no connection was cut and nothing that held one was killed. */
  readonly counts = { sent: 0, right: 0, wrong: 0, errors: 0, unexplained: 0 }
  readonly troubles: string[] = []
  readonly #service: Service
  readonly #loops: Promise<void>[]
  #open = true

  constructor(service: Service, clients: number) {
    this.#service = service
    this.#loops = Array.from({ length: clients }, (_, client) => this.#run(client))
  }

  async stop(): Promise<void> {
    this.#open = false
    await Promise.all(this.#loops)
  }

  async #run(client: number): Promise<void> {
    for (let n = 0; this.#open && !this.#service.isOver(); n++) {
      const urls = this.#service.urls()
      if (urls.length > 0) await this.#request(client * 1e6 + n, urls[n % urls.length]!)
      await delay(pauseMs)
    }
  }

  async #request(number: number, url: string): Promise<void> {
    const [path, right] = number % 3 === 0 ? ['/spin?ms=40', '40'] : [`/double?n=${number}`, `${number * 2}`]
    const began = performance.now()
    this.counts.sent++
    try {
      const { status, text } = await ask(url + path, {}, patienceMs)
      if (status !== 200) this.#trouble(began, path, `${status} ${text.slice(0, 200)}`)
      else if (text === right) this.counts.right++
      else {
        this.counts.wrong++
        this.troubles.push(`wrong: ${path}: ${text.slice(0, 200)}`)
      }
    } catch (error) {
      this.#trouble(began, path, String((error as Error).cause ?? error))
    }
  }

  #trouble(began: number, path: string, what: string): void {
    this.counts.errors++
    if (this.#service.disturbances.since(began)) return
    this.counts.unexplained++
    this.troubles.push(`${new Date().toISOString()} ${path}: ${what}`)
  }
}
